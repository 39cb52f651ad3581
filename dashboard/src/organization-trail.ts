import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query'
import { api } from './api'
import { rowsOnPage } from './lists'
import { billingSearch } from './money-search'
import { plainName } from './plain-name'
import { oneOf, present, textOf, type Search } from './search'

/** The kinds of objects a change can concern. Source: docs/audit-trail.md. */
export const kindNames = {
  organization: 'Organization',
  member: 'Member',
  invitation: 'Invitation',
  connection: 'Connection',
  price: 'Price',
  gateway: 'Gateway',
  pool: 'Pool',
  collection: 'Collection',
  checkout: 'Checkout',
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

const dayMs = 86_400_000

/** The end of a day. */
const endOf = (day: string) => new Date(Date.parse(day) + dayMs).toISOString()

/** The position after which a page starts; the first page starts at the newest change. */
interface Place {
  cursor?: string | undefined
}
const begin: Place = {}

async function pageAt(id: string, { who, kind, from, to }: TrailSearch, { cursor }: Place) {
  const query = present({
    actor: who,
    action: kind,
    from,
    to: to && endOf(to),
    limit: String(rowsOnPage),
    cursor,
  })
  const asked = { param: { id }, query }
  return (await api.organizations[':id']['audit-trail'].$get(asked)).json()
}

export type Change = Awaited<ReturnType<typeof pageAt>>['changes'][number]

/** The changes of an organization, newest first. */
export const trailQuery = (id: string, filter: TrailSearch) =>
  infiniteQueryOptions({
    queryKey: ['organizations', id, 'audit-trail', filter],
    queryFn: ({ pageParam }) => pageAt(id, filter, pageParam),
    initialPageParam: begin,
    getNextPageParam: ({ pagination: { next_cursor: cursor } }) =>
      cursor === null ? undefined : { cursor },
    placeholderData: keepPreviousData,
  })

/** `member.role_changed` -> `Member: role changed`. */
export function deedOf({ action }: Change): string {
  const [kind = '', deed = ''] = action.split('.')
  return `${isKind(kind) ? kindNames[kind] : kind}: ${plainName(deed)}`
}

/** The actor's email address. */
export function actorOf({ actor, actor_email: email }: Change): string {
  if (actor === 'operator' || actor === 'system') return others[actor]
  return email ?? actor
}

/** The credential and the IP address of a change; undefined when no account made it. */
export function wayOf({ key_id: key, client_address: address }: Change): string | undefined {
  if (key === null) return undefined
  const way = key === 'session' ? 'signed in' : `with ${key}`
  return address === null ? way : `${way}, from ${address}`
}

/** Formats a value; null and an empty list are "none". */
function wordsOf(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(wordsOf).join(', ')
  if (typeof value === 'string') return value
  if (typeof value !== 'object') return JSON.stringify(value)
  return Object.entries(value)
    .map(([name, inner]) => `${plainName(name)} ${wordsOf(inner)}`)
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
      return [{ name, before: wordsOf(before[name]), after: wordsOf(after[name]) }]
    }
    const value = (before ?? after)?.[name]
    if (value === null) return []
    return [{ name, [before ? 'before' : 'after']: wordsOf(value) }]
  })
}
