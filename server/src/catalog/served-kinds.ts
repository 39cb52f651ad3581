import type { Category } from './model'
import type { Provider } from '../providers/provider'

/** Returns whether a provider serves models of a category at all. */
export function servesKind(
  { dialect, embeddings }: Pick<Provider, 'dialect' | 'embeddings'>,
  category: Category,
): boolean {
  switch (category) {
    case 'embedding':
      return embeddings !== 'no'
    case 'moderation':
      // Only OpenAI's format has it; Azure's own service of that name has another one.
      return dialect === 'openai' || dialect === 'sandbox'
    case 'rerank':
      return dialect === 'openai' || dialect === 'sandbox' || dialect === 'cohere'
    default:
      return embeddings !== 'only'
  }
}
