import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { admin } from '../api'
import { rowsOnPage } from '../lists'
import { billingSearch } from '../money-search'
import { oneOf, present, textOf, type Search } from '../search'

/** What stands for the account where somebody had the operator key. */
export const operatorKey = 'operator_key'

/** What a change can be about, in plain words. Source: docs/audit-trail.md. */
export const kindNames = {
  user: 'User',
  key: 'API key',
  organization: 'Organization',
  transaction: 'Credits',
  plan: 'Plan',
  quota_request: 'Quota request',
  ticket: 'Ticket',
  comment: 'Reply to a ticket',
  provider: 'Provider',
  model: 'Model',
  connection: 'Connection',
  collection: 'Collection',
  branding: 'Branding',
  config: 'Configuration',
} as const
type Kind = keyof typeof kindNames

const isKind = (name: string): name is Kind => name in kindNames
const kinds = Object.keys(kindNames).filter(isKind)

/** Which changes are listed. */
interface TrailFilter {
  search?: string | undefined
  /** The id of an account, or `operator_key`. */
  actor?: string | undefined
  kind?: Kind | undefined
  /** The id of whatever a change names. */
  object?: string | undefined
  /** Whole days in UTC. */
  from?: string | undefined
  to?: string | undefined
}

export interface TrailSearch extends TrailFilter {
  /** The request of the change that is open. */
  open?: string | undefined
}

export function toTrailSearch(search: Search): TrailSearch {
  const { from, to } = billingSearch(search)
  return {
    search: textOf(search, 'search'),
    actor: textOf(search, 'actor'),
    kind: oneOf(search, 'kind', kinds),
    object: textOf(search, 'object'),
    from,
    to,
    open: textOf(search, 'open'),
  }
}

const dayMs = 86_400_000

/** The moment that a day is over. */
const endOf = (day: string) => new Date(Date.parse(day) + dayMs).toISOString()

/** Behind which change a page begins; the first one at the newest. */
interface Place {
  cursor?: string | undefined
}
const begin: Place = {}

async function pageAt(filter: TrailFilter, { cursor }: Place = {}) {
  const { search, actor, kind, object, from, to } = filter
  const query = present({
    search,
    actor,
    object_kind: kind,
    object_id: object,
    from,
    to: to && endOf(to),
    limit: String(rowsOnPage),
    cursor,
  })
  return (await admin['audit-trail'].$get({ query })).json()
}

export type Change = Awaited<ReturnType<typeof pageAt>>['changes'][number]

/** What operators changed, newest first. */
export const trailQuery = ({ open: _open, ...filter }: TrailSearch) =>
  infiniteQueryOptions({
    queryKey: ['operator', 'audit-trail', 'list', filter],
    queryFn: ({ pageParam }) => pageAt(filter, pageParam),
    initialPageParam: begin,
    getNextPageParam: ({ pagination: { next_cursor: cursor } }) =>
      cursor === null ? undefined : { cursor },
    placeholderData: keepPreviousData,
  })

/** What one request changed; null where it changed nothing. */
export const changeQuery = (request: string) =>
  queryOptions({
    queryKey: ['operator', 'audit-trail', 'one', request],
    queryFn: async () => {
      const { changes } = await pageAt({ search: request })
      return changes.find(({ request_id: id }) => id === request) ?? null
    },
  })

/** What a change is about, in plain words. */
export const aboutOf = ({ object_kind: kind }: Change) => (isKind(kind) ? kindNames[kind] : kind)

/** What was asked, without what all of it begins with. */
export const deedOf = ({ method, route }: Change) => `${method} ${route.replace('/api/admin', '')}`

/** Who made it, as people know them. */
export const actorOf = ({ actor, actor_email: email }: Change) =>
  actor === operatorKey ? 'Operator key' : (email ?? actor)
