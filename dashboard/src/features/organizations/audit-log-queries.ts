import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'
import { rowsOnPage, firstPosition, toNextPosition, type Position } from '../../api/paging'
import { billingSearch, toEndOfDay } from '../../url/period'
import { plainName } from '../../format/plain-name'
import { oneOf, present, textOf, toQuery, type Search } from '../../url/search'

/** The kinds of objects a change can concern. Source: docs/operate/audit-trail.md. */
export const kindNames = {
  organization: 'Organization',
  member: 'Member',
  invitation: 'Invitation',
  connection: 'Connection',
  price: 'Price',
  gateway: 'Gateway',
  pool: 'Pool',
  collection: 'Collection',
  scim_directory: 'SCIM directory',
  scim_user: 'SCIM user',
  scim_group: 'SCIM group',
  destination: 'Destination',
  notification_destination: 'Notification destination',
  checkout: 'Checkout',
  company: 'Company',
  view: 'View',
  credit: 'Credits',
} as const
type Kind = keyof typeof kindNames

const isKind = (name: string): name is Kind => name in kindNames
const kinds = Object.keys(kindNames).filter(isKind)

/** Actors other than accounts. */
export const others = { operator: 'Operator', system: 'System' } as const

/** The filters of the audit log. */
export interface TrailSearch {
  /** The id of an account, or one of `others`. */
  who?: string | undefined
  kind?: Kind | undefined
  /** Whole days in UTC. */
  from?: string | undefined
  to?: string | undefined
}

export function toTrailSearch(search: Search): TrailSearch {
  const { from, to } = billingSearch(search)
  return { who: textOf(search, 'who'), kind: oneOf(search, 'kind', kinds), from, to }
}

/** The address of the whole audit log with these filters, as lines of JSON. */
export const downloadOf = (id: string, { who, kind, from, to }: TrailSearch) =>
  `/api/organizations/${id}/audit-trail/export?${toQuery({
    actor: who,
    action: kind,
    from,
    to: to && toEndOfDay(to),
  })}`

async function pageAt(id: string, { who, kind, from, to }: TrailSearch, { cursor }: Position) {
  const query = present({
    actor: who,
    action: kind,
    from,
    to: to && toEndOfDay(to),
    limit: rowsOnPage,
    cursor,
  })
  return bodyOf(api.GET('/api/organizations/{id}/audit-trail', { params: { path: { id }, query } }))
}

export type Change = Schemas['OrganizationChange']

/** The changes of an organization, newest first. */
export const trailQuery = (id: string, filter: TrailSearch) =>
  infiniteQueryOptions({
    queryKey: ['organizations', id, 'audit-trail', filter],
    queryFn: ({ pageParam }) => pageAt(id, filter, pageParam),
    initialPageParam: firstPosition,
    getNextPageParam: toNextPosition,
    placeholderData: keepPreviousData,
  })

/** `member.role_changed` -> `Member: role changed`. */
export function actionOf({ action }: Change): string {
  const [kind = '', deed = ''] = action.split('.')
  return `${isKind(kind) ? kindNames[kind] : kind}: ${plainName(deed)}`
}

/** The actor's email address. */
export function actorOf({ actor, actor_email: email }: Change): string {
  if (actor === 'operator' || actor === 'system') return others[actor]
  return email ?? actor
}

/** The kind of credential and the IP address of a change; undefined when no account made it. */
export function channelOf({ key_id: key, client_address: address }: Change): string | undefined {
  if (key === null) return undefined
  const method = key === 'session' ? 'signed in' : 'with an API key'
  return address === null ? method : `${method}, from ${address}`
}

/** Formats a value; null and an empty list are "none". */
function actionText(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(actionText).join(', ')
  if (typeof value === 'string') return value
  if (typeof value !== 'object') return JSON.stringify(value)
  return Object.entries(value)
    .map(([name, inner]) => `${plainName(name)} ${actionText(inner)}`)
    .join(' ')
}

export interface Difference {
  name: string
  /** Undefined for a new object. */
  before?: string
  /** Undefined for a deleted object. */
  after?: string
}

/** The differences, field by field. A created or deleted object is listed without its empty fields. */
export function differencesOf({ before, after }: Change): Difference[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return names.flatMap((name) => {
    if (before && after) {
      return [
        {
          name,
          before: actionText(Reflect.get(before, name)),
          after: actionText(Reflect.get(after, name)),
        },
      ]
    }
    const value: unknown = Reflect.get(before ?? after ?? {}, name)
    if (value === null) return []
    return [{ name, [before ? 'before' : 'after']: actionText(value) }]
  })
}
