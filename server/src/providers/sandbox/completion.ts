import { createEventStream } from './event-stream'
import { toTextModel, type TextModel } from './models'
import { prose } from './prose'
import { SandboxCompletionRequest, parse } from './request'
import { sliceText, countPromptTokens } from './text'
import { readEndRules, toUsage, writeText, type SandboxText } from './write-text'

/** One choice for each prompt and `n`: its number is the prompt's × n + k. */
function toChoices(
  request: SandboxCompletionRequest,
  model: TextModel,
  prompts: readonly string[],
) {
  const { stop, max_tokens: limit, n, echo } = request
  const ends = readEndRules(stop, limit)
  return prompts.flatMap((prompt) =>
    Array.from({ length: n ?? 1 }, (_, variant): SandboxText => {
      // Clients get a prompt's own text back, and nothing else, in this way.
      if (echo && limit === 0) return { text: prompt, finish: 'length', tokens: 0 }
      const choice = writeText(prose[model]({ text: prompt, limit: ends.limit, variant }), ends)
      return echo ? { ...choice, text: prompt + choice.text } : choice
    }),
  )
}

function* chunks(head: object, choices: readonly SandboxText[], usage: object | undefined) {
  for (const [index, { text, finish }] of choices.entries()) {
    for (const slice of sliceText(text)) {
      yield { ...head, choices: [{ index, text: slice, logprobs: null, finish_reason: null }] }
    }
    yield { ...head, choices: [{ index, text: '', logprobs: null, finish_reason: finish }] }
  }
  if (usage) yield { ...head, choices: [], usage }
}

/** `POST /completions`. Throws `Refusal`. */
export function answerCompletion(body: unknown, signal: AbortSignal): Response {
  const request = parse(SandboxCompletionRequest, body)
  const model = toTextModel(request.model)
  const prompts = typeof request.prompt === 'string' ? [request.prompt] : request.prompt
  const choices = toChoices(request, model, prompts)
  const usage = toUsage(
    prompts.reduce((sum, prompt) => sum + countPromptTokens(prompt), 0),
    choices.reduce((sum, { tokens }) => sum + tokens, 0),
  )
  const head = {
    id: `cmpl-${crypto.randomUUID()}`,
    object: 'text_completion',
    created: Math.floor(Date.now() / 1000),
    model,
  }
  if (request.stream) {
    const wantsUsage = request.stream_options?.include_usage === true
    return createEventStream(chunks(head, choices, wantsUsage ? usage : undefined), signal)
  }
  const whole = choices.map(({ text, finish }, index) => ({
    index,
    text,
    logprobs: null,
    finish_reason: finish,
  }))
  return Response.json({ ...head, choices: whole, usage })
}
