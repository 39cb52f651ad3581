import type { ResponsesFlags } from './needs-responses'

const withTools = (
  toolsInChat: ResponsesFlags['toolsInChat'],
  leastEffort: ResponsesFlags['leastEffort'] = 'none',
): ResponsesFlags => ({ toolsInChat, leastEffort, responsesOnly: false })

const always = (leastEffort: ResponsesFlags['leastEffort']): ResponsesFlags => ({
  toolsInChat: 'never',
  leastEffort,
  responsesOnly: true,
})

/**
 * OpenAI's models that refuse tools in chat, or all chats, by the beginning of their names. Source: contract 12.9,
 * from the errors that the models answer with and from their pages, https://developers.openai.com/api/docs/models
 */
export const responsesModels: Readonly<Record<string, ResponsesFlags>> = {
  'gpt-5.6': withTools('without_effort'),
  'gpt-6-astra': withTools('never'),
  'gpt-6-sol': withTools('with_effort_none'),
  'gpt-6-luna': withTools('with_effort_none'),
  'gpt-6.1-sol': withTools('never', 'low'),
  'gpt-6.2': withTools('never', 'low'),
  'gpt-6-cyber': always('low'),
  'gpt-daybreak': always('none'),
  'o*-pro': always('low'),
  'gpt-*-pro': always('medium'),
  'gpt-5-pro*': always('high'),
  'gpt-*-codex': always('low'),
  'gpt-5.3-codex*': always('none'),
  'codex-mini': always('low'),
}
