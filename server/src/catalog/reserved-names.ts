import { providers } from '../providers/registry'

/** First parts of model names and of paths that mean something else. Source: api.md 6.3. */
const words: ReadonlySet<string> = new Set([
  'collection',
  'auto',
  'admin',
  'api',
  'v1',
  'native',
  'docs',
  'system',
  'support',
  'tollgate',
])

/** The providers that come with Tollgate. */
const builtIn: ReadonlySet<string> = new Set(providers.map(({ key }) => key))

/** Whether a name is nobody's to take, as a handle, as a slug or as a provider's key. */
export const isReserved = (name: string): boolean => words.has(name)

/** The same of a handle or a slug: no provider that comes with Tollgate either. */
export const isReservedOwner = (name: string): boolean => words.has(name) || builtIn.has(name)
