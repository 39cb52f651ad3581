import type { ConnectionOptions } from '../providers/connection-options'
import type { Provider } from '../providers/provider'

/** A credential that several accounts use: its provider, and the options of its connection. */
export interface SharedCredential {
  provider: Pick<Provider, 'key'>
  connection: { options: Pick<ConnectionOptions, 'allow'> }
}

interface OwnedCandidate {
  billing: { mode: string; organizationId: string | null }
  provider: Pick<Provider, 'dialect'>
  connection: { owner: string | null }
}

/**
 * Returns whether a candidate's credential is shared: all but those of the account itself, whatever the model costs. The
 * sandbox has none, and nothing leaves the process.
 */
export const isSharedCredential = ({ billing, provider, connection }: OwnedCandidate): boolean => {
  const isOwned = billing.mode === 'byok' || connection.owner !== null
  return !(isOwned && billing.organizationId === null) && provider.dialect !== 'sandbox'
}

/** Returns whether a candidate's accounts do not see what came from its prompt cache. */
export const hidesCachedTokens = (
  candidate: OwnedCandidate & {
    connection: { options: Pick<ConnectionOptions, 'hide_cached_tokens'> }
  },
): boolean =>
  candidate.connection.options.hide_cached_tokens === true && isSharedCredential(candidate)

type AllowedKind = 'fields' | 'blocks' | 'betas'

/** The lists of a connection that allows more than the built-in ones: made once, and released with it. */
const extended = new WeakMap<object, Map<ReadonlySet<string>, ReadonlySet<string>>>()

/** Returns a list with what the owner of the connection allows beside it; the same set where that is nothing. */
export function withAllowed(
  list: ReadonlySet<string>,
  { connection: { options } }: SharedCredential,
  kind: AllowedKind,
): ReadonlySet<string> {
  const extra = options.allow?.[kind]
  if (!extra || extra.length === 0) return list
  let lists = extended.get(extra)
  if (!lists) extended.set(extra, (lists = new Map()))
  let set = lists.get(list)
  if (!set) lists.set(list, (set = new Set([...list, ...extra])))
  return set
}

/** Receives the name of each field that is left out. */
export type OnOmitted = (field: string) => void

/** The use of a shared credential by one request. */
export interface SharedUse {
  credential: SharedCredential
  omit: OnOmitted
}

/** Returns whether a value requests anything. An empty object does: `web_search_options: {}` searches. */
export const isUsedValue = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== false &&
  value !== '' &&
  !(Array.isArray(value) && value.length === 0)
