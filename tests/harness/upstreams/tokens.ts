/**
 * The provider's tokenizer: one token is one run of characters between white space. Bill and usage
 * both come from here, so they can only differ where a behaviour lies on purpose.
 */
export function countTokens(text: string): number {
  return text.match(/\S+/g)?.length ?? 0
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

function partTokens(content: unknown): number {
  if (typeof content === 'string') return countTokens(content)
  if (!Array.isArray(content)) return 0
  let tokens = 0
  for (const part of content) {
    if (typeof part === 'string') tokens += countTokens(part)
    // A token array: the caller has counted already.
    else if (typeof part === 'number') tokens += 1
    else if (Array.isArray(part)) tokens += part.length
    else if (isRecord(part) && typeof part['text'] === 'string') tokens += countTokens(part['text'])
  }
  return tokens
}

/** Tokens of a request body: message texts, `prompt` or `input`; tools and images count nothing. */
export function promptTokens(body: Record<string, unknown>): number {
  const { messages, prompt, input } = body
  if (!Array.isArray(messages)) return partTokens(prompt ?? input)
  let tokens = partTokens(body['system'])
  for (const message of messages) if (isRecord(message)) tokens += partTokens(message['content'])
  return tokens
}
