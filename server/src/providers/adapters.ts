import type { Adapter } from './adapter'
import { anthropic } from './anthropic'
import { bedrock } from './bedrock'
import { cohere } from './cohere'
import { google } from './google'
import type { Provider } from './provider'

/** The dialects that are translated; the others are relayed, or answered in the process. */
const adapters: Partial<Record<Provider['dialect'], Adapter>> = {
  anthropic,
  google,
  bedrock,
  cohere,
}

/** Undefined for a provider whose dialect is not translated. */
export const adapterOf = ({ dialect }: Pick<Provider, 'dialect'>): Adapter | undefined =>
  adapters[dialect]
