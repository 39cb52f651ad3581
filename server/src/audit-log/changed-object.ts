/** Kinds of objects by the prefix of their ids. Source: contract 1.3. */
const kindOfPrefix: Readonly<Record<string, string>> = {
  user: 'user',
  key: 'key',
  org: 'organization',
  plan: 'plan',
  prov: 'provider',
  conn: 'connection',
  coll: 'collection',
  ticket: 'ticket',
  comment: 'comment',
  qreq: 'quota_request',
  txn: 'transaction',
}

const ownId = /^([a-z]+)_[0-9a-hjkmnp-tv-z]{26}$/
const longestId = 256
const mostIds = 20

/** Returns the kind of object a change concerns: by its id, else by the route: `/api/admin/models/:id` is a model's. */
export function toObjectKind(route: string, id: string | undefined): string {
  const [, prefix = ''] = ownId.exec(id ?? '') ?? []
  const known = kindOfPrefix[prefix]
  if (known) return known
  const [, , , name = ''] = route.split('/')
  return name.replace(/s$/, '')
}

const isId = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= longestId

/** Returns all ids that a change names: in the path, in fields of the body such as `user_id`, and its object's. */
export function findConcernedIds(
  pathIds: readonly string[],
  sent: Readonly<Record<string, unknown>> | undefined,
  objectId: string | undefined,
): string[] {
  const named = Object.entries(sent ?? {}).map(([name, value]) => name.endsWith('_id') && value)
  return [...new Set([objectId, ...pathIds, ...named].filter(isId))].slice(0, mostIds)
}
