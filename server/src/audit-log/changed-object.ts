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
  req: 'request',
  dir: 'scim_directory',
  grp: 'scim_group',
  sink: 'audit_destination',
  hold: 'legal_hold',
}

const ownId = /^([a-z]+)_[0-9a-hjkmnp-tv-z]{26}$/
const maxId = 256
const maxIds = 20

/** Returns the kind of object a change concerns: by its id, else by the route: `/api/admin/models/:id` is a model's. */
export function toObjectKind(route: string, id: string | undefined): string {
  const [, prefix = ''] = ownId.exec(id ?? '') ?? []
  const kind = kindOfPrefix[prefix]
  if (kind) return kind
  const [, , , name = ''] = route.split('/')
  return name.replace(/s$/, '')
}

const isId = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= maxId

/**
 * Returns all ids that a change concerns: its object's, `ids`, such as those in the path, and those that fields of the
 * body name, such as `user_id`.
 */
export function findConcernedIds(
  ids: readonly string[],
  body: Readonly<Record<string, unknown>> | undefined,
  objectId: string | undefined,
): string[] {
  const idsByField = Object.entries(body ?? {}).map(
    ([name, value]) => name.endsWith('_id') && value,
  )
  return [...new Set([objectId, ...ids, ...idsByField].filter(isId))].slice(0, maxIds)
}
