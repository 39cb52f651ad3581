import type { CatalogEntryRow } from '../../src/catalog/catalog-file'

/** The lengths of a model: of the context, of the longest prompt in it, and of the longest answer. */
interface ContextWindow {
  context: number
  prompt: number
  answer: number
}

/**
 * Contexts of OpenAI of which a part is for the answer alone. The sources have the whole for some models, and the
 * longest prompt in its place for others. @see https://developers.openai.com/api/docs/models
 */
const openAiWindows: readonly ContextWindow[] = [
  { context: 400_000, prompt: 272_000, answer: 128_000 },
  { context: 1_050_000, prompt: 922_000, answer: 128_000 },
]

/** OpenAI's models with such a context, at whichever provider. */
const openAiModel = /(?:^|[/.])gpt-[5-9](?![a-z])/

/** Returns an entry with its whole context and, where that is shorter, its longest prompt. */
export function withLongestPrompt(entry: CatalogEntryRow): CatalogEntryRow {
  const { context_length: context, max_output_tokens: answer } = entry
  const window = openAiModel.test(entry.id)
    ? openAiWindows.find(
        (one) => one.answer === answer && (one.context === context || one.prompt === context),
      )
    : undefined
  if (!window) return entry
  // The usual order of its fields.
  const { id, name, category, context_length: _context, ...rest } = entry
  return {
    id,
    name,
    category,
    context_length: window.context,
    max_input_tokens: window.prompt,
    ...rest,
  }
}
