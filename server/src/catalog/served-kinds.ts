import type { Category } from './model'
import type { Provider } from '../providers/provider'

/** The formats in which images can be requested. */
const drawingDialects: ReadonlySet<Provider['dialect']> = new Set([
  'openai',
  'sandbox',
  'azure',
  'google',
  'vertex',
  'bedrock',
])

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
    case 'image':
      return embeddings !== 'only' && drawingDialects.has(dialect)
    default:
      return embeddings !== 'only'
  }
}
