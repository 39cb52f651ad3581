interface Recorded {
  text: string
  stream?: boolean
  /** What stands beside the choices: parts of the usage, or fields of the provider's own. */
  report?: Report
}

export interface Report {
  usage?: object
  [field: string]: unknown
}

const counts = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }

/** An answer in the OpenAI format as a provider gives it; streamed, each character is a chunk of its own. */
export function recordedAnswer({ text, stream = false, report = {} }: Recorded): string {
  const { usage, ...beside } = report
  const last = { usage: { ...counts, ...usage }, ...beside }
  const head = { id: 'chatcmpl-1', created: 1_771_000_000, model: 'fake' }
  if (!stream) {
    const message = { role: 'assistant', content: text }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    return JSON.stringify({ ...head, object: 'chat.completion', choices, ...last })
  }
  const chunk = (delta: object, finish: string | null, rest: object = {}) => {
    const choices = [{ index: 0, delta, finish_reason: finish }]
    return JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...rest })
  }
  // By UTF-16 units: some providers divide a pair of surrogates between two chunks.
  const units = text.split('')
  const chunks = [...units.map((content) => chunk({ content }, null)), chunk({}, 'stop', last)]
  return [...chunks, '[DONE]'].map((data) => `data: ${data}\n\n`).join('')
}
