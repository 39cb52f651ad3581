/** The operations of the model endpoints, by which a key may be restricted to some of them. */
export const modelEndpoints = [
  'chat',
  'completions',
  'embeddings',
  'moderations',
  'rerank',
  'images',
  'speech',
  'transcriptions',
  'translations',
] as const
export type ModelEndpoint = (typeof modelEndpoints)[number]

/** The lists of what a key may call, as the fields of the API and the columns of the database are named. */
export const accessListNames = [
  'allowed_models',
  'denied_models',
  'allowed_providers',
  'denied_providers',
  'allowed_collections',
  'denied_collections',
  'allowed_endpoints',
  'denied_endpoints',
] as const
export type AccessListName = (typeof accessListNames)[number]

/** The lists of what a key may call; null for a list that it does not have. */
export type AccessLists = Readonly<Record<AccessListName, readonly string[] | null>>

/** Returns the lists among the fields of a key. */
export const listsOf = <Fields extends Partial<Record<AccessListName, unknown>>>(
  fields: Fields,
): { [Name in AccessListName]: Fields[Name] } => ({
  allowed_models: fields.allowed_models,
  denied_models: fields.denied_models,
  allowed_providers: fields.allowed_providers,
  denied_providers: fields.denied_providers,
  allowed_collections: fields.allowed_collections,
  denied_collections: fields.denied_collections,
  allowed_endpoints: fields.allowed_endpoints,
  denied_endpoints: fields.denied_endpoints,
})

/** Returns the lists of a key; null where it has none, as nearly all keys. */
export const toAccessLists = (key: AccessLists): AccessLists | null =>
  accessListNames.every((name) => key[name] === null) ? null : listsOf(key)

/** Returns the list that refuses an endpoint; undefined where none does. */
export function findEndpointRefusal(
  endpoint: ModelEndpoint,
  { allowed_endpoints: allowed, denied_endpoints: denied }: AccessLists,
): AccessListName | undefined {
  if (denied?.includes(endpoint)) return 'denied_endpoints'
  return allowed && !allowed.includes(endpoint) ? 'allowed_endpoints' : undefined
}

/** Says in an error which list refuses, and how. */
export const refusalText = (list: AccessListName): string =>
  `its ${list} ${list.startsWith('allowed') ? 'do not include it' : 'include it'}`
