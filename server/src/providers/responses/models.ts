import type { ResponsesFlags } from './needs-responses'

/**
 * OpenAI's models that refuse tools in chat, by the beginning of their names. Source: contract 12.9,
 * from the errors that the models answer with.
 */
export const responsesModels: Readonly<Record<string, ResponsesFlags>> = {
  'gpt-5.6': { toolsInChat: 'without_effort', leastEffort: 'none' },
  'gpt-6-astra': { toolsInChat: 'never', leastEffort: 'none' },
  'gpt-6-sol': { toolsInChat: 'with_effort_none', leastEffort: 'none' },
  'gpt-6-luna': { toolsInChat: 'with_effort_none', leastEffort: 'none' },
  'gpt-6.1-sol': { toolsInChat: 'never', leastEffort: 'low' },
}
