import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../../api/client'
import { rowsOnPage, firstPosition, toNextPosition, type Position } from '../../../api/paging'
import { billingSearch, toEndOfDay } from '../../../url/period'
import { oneOf, present, textOf, toQuery, type Search } from '../../../url/search'

/** Stands for the account when a change was made with the operator key. */
export const operatorKey = 'operator_key'

/** The kinds of objects a change can concern. Source: docs/operate/audit-trail.md. */
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
  scim_directory: 'SCIM directory',
  scim_group: 'SCIM group',
  request: 'Request (viewed)',
  audit_destination: 'Audit destination',
  legal_hold: 'Legal hold',
} as const
type Kind = keyof typeof kindNames

const isKind = (name: string): name is Kind => name in kindNames
const kinds = Object.keys(kindNames).filter(isKind)

/** The filters of the audit log. */
interface TrailFilter {
  search?: string | undefined
  /** The id of an account, or `operator_key`. */
  actor?: string | undefined
  kind?: Kind | undefined
  /** The id of an object that a change concerns. */
  object?: string | undefined
  /** Whole days in UTC. */
  from?: string | undefined
  to?: string | undefined
}

export interface TrailSearch extends TrailFilter {
  /** The request of the open change. */
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

/** The address of the whole audit log with these filters, as lines of JSON. */
export function downloadOf({ search, actor, kind, object, from, to }: TrailFilter): string {
  const filters = { search, actor, object_kind: kind, object_id: object, from }
  return `/api/admin/audit-trail/export?${toQuery({ ...filters, to: to && toEndOfDay(to) })}`
}

async function pageAt(filter: TrailFilter, { cursor }: Position = {}) {
  const { search, actor, kind, object, from, to } = filter
  const query = present({
    search,
    actor,
    object_kind: kind,
    object_id: object,
    from,
    to: to && toEndOfDay(to),
    limit: rowsOnPage,
    cursor,
  })
  return bodyOf(api.GET('/api/admin/audit-trail', { params: { query } }))
}

export type Change = Schemas['OperatorChangeList']['changes'][number]

/** Changes made by operators, newest first. */
export const trailQuery = ({ open: _open, ...filter }: TrailSearch) =>
  infiniteQueryOptions({
    queryKey: ['operator', 'audit-trail', 'list', filter],
    queryFn: ({ pageParam }) => pageAt(filter, pageParam),
    initialPageParam: firstPosition,
    getNextPageParam: toNextPosition,
    placeholderData: keepPreviousData,
  })

/** The change of one request; null when it changed nothing. */
export const changeQuery = (request: string) =>
  queryOptions({
    queryKey: ['operator', 'audit-trail', 'one', request],
    queryFn: async () => {
      const { changes } = await pageAt({ search: request })
      return changes.find(({ request_id: id }) => id === request) ?? null
    },
  })

/** The kind of object that a change concerns. */
export const aboutOf = ({ object_kind: kind }: Change) => (isKind(kind) ? kindNames[kind] : kind)

/** The name of the object that was changed; undefined for one that has none or was deleted. */
export const objectNameOf = ({ object_id: id, names }: Change): string | undefined =>
  id === null ? undefined : names[id]

/** The names of the other objects that the change concerns, such as the account of credits. */
export const othersOf = ({ object_id: id, concerned, names }: Change): string[] =>
  concerned.flatMap((other) => (other === id || !names[other] ? [] : [names[other]]))

/** The actor's email address. */
export const actorOf = ({ actor, actor_email: email }: Change) =>
  actor === operatorKey ? 'Operator key' : (email ?? actor)
