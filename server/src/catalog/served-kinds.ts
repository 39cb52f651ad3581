import type { Category } from './model'
import type { Provider } from '../providers/provider'

const speechDialects: ReadonlySet<string> = new Set([
  'openai',
  'sandbox',
  'azure',
  'google',
  'vertex',
])
const transcribingDialects: ReadonlySet<string> = new Set([
  'openai',
  'sandbox',
  'azure',
  'google',
  'vertex',
])
const rankingDialects: ReadonlySet<string> = new Set([
  'openai',
  'sandbox',
  'cohere',
  'bedrock',
  'vertex',
])
/** The formats in which images can be requested. */
const drawingDialects: ReadonlySet<Provider['dialect']> = new Set([
  'openai',
  'sandbox',
  'azure',
  'google',
  'vertex',
  'bedrock',
])

/** Forms of requests for images whose providers serve nothing else. */
const imageOnlyForms: ReadonlySet<Provider['options']['images']['form']> = new Set([
  'bfl',
  'stability',
])

/** Forms of requests for speech whose providers serve sound alone. */
const soundOnlyForms: ReadonlySet<Provider['options']['speech']['form']> = new Set([
  'deepgram',
  'elevenlabs',
])

/** Returns whether a provider serves models of a category at all. */
export function servesKind(
  { dialect, embeddings, options }: Pick<Provider, 'dialect' | 'embeddings' | 'options'>,
  category: Category,
): boolean {
  if (imageOnlyForms.has(options.images.form)) return category === 'image'
  switch (category) {
    case 'embedding':
      return embeddings !== 'no'
    case 'moderation':
      // Azure's own service is a provider of its own, with `moderationFormat`.
      return dialect === 'openai' || dialect === 'sandbox'
    case 'rerank':
      return rankingDialects.has(dialect)
    case 'speech':
      return embeddings !== 'only' && speechDialects.has(dialect)
    case 'transcription':
      return embeddings !== 'only' && transcribingDialects.has(dialect)
    case 'image':
      return embeddings !== 'only' && drawingDialects.has(dialect)
    default:
      return embeddings !== 'only' && !soundOnlyForms.has(options.speech.form)
  }
}
