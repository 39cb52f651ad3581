import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'
import type { ExplorerSearch } from '../../url/explorer'
import { present } from '../../url/search'
import { browserZone, listPresets, toSpan } from './span'

export type SavedView = Schemas['SavedView']
type Parameters = SavedView['parameters']
type Period = NonNullable<Parameters['period']>

/** The saved views of the account, or those that an organization's owner and admins share. */
export const viewsQuery = (organization: string | undefined) =>
  queryOptions({
    queryKey: ['usage', 'views', organization],
    queryFn: async () => {
      const query = present({ organization_id: organization })
      return (await bodyOf(api.GET('/api/billing/views', { params: { query } }))).views
    },
  })

/** The presets of the days, by the names under which views keep them. */
const periods: Readonly<Record<string, Period>> = {
  Today: 'today',
  'Last 7 days': 'last_7_days',
  'Last 30 days': 'last_30_days',
  'This month': 'this_month',
  'Last month': 'last_month',
}

/** The days of a view: a preset, which follows the calendar, or those of the search. */
export interface ViewDays {
  period?: Period | undefined
  label: string
}

const dayNames = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })

/** Lists the days that a view of a search can have: presets that are the same days today, and those days themselves. */
export function listViewDays(
  search: ExplorerSearch,
  nowMs: number,
  zone = browserZone(),
): ViewDays[] {
  const { from, to } = toSpan(search, nowMs, zone)
  const presets = listPresets(nowMs, zone).filter((one) => one.from === from && one.to === to)
  const [first, last] = [from, to].map((day) => dayNames.format(Date.parse(day)))
  return [
    ...presets.map(({ name }) => ({ period: periods[name], label: name })),
    { label: first === last ? `${first}` : `${first} to ${last}` },
  ]
}

/** Returns the parameters of a view that shows what a search shows, over these days. */
export function toViewParameters(
  search: ExplorerSearch,
  { period }: Pick<ViewDays, 'period'>,
  { nowMs, zone = browserZone() }: { nowMs: number; zone?: string },
): Parameters {
  const { by, split, every, measure, compare, model, provider, key, member, tag } = search
  const { from, to } = toSpan(search, nowMs, zone)
  return {
    ...(period ? { period } : { start_date: from, end_date: to }),
    group_by: by === 'account' ? undefined : by,
    split_by: split === 'account' ? undefined : split,
    granularity: every,
    measure: measure === 'margin' || measure === 'provider_cost' ? undefined : measure,
    compare,
    model,
    provider,
    key_id: key,
    member_id: member,
    tag,
  }
}

/** Returns the search that shows a view; what the view does not name is absent. */
export function toViewSearch(
  parameters: Parameters,
  nowMs: number,
  zone = browserZone(),
): ExplorerSearch {
  const preset = listPresets(nowMs, zone).find(({ name }) => periods[name] === parameters.period)
  const days = parameters.period === undefined ? undefined : preset
  return {
    from: days?.from ?? parameters.start_date,
    to: days?.to ?? parameters.end_date,
    by: parameters.group_by,
    split: parameters.split_by,
    every: parameters.granularity,
    measure: parameters.measure,
    compare: parameters.compare,
    model: parameters.model,
    provider: parameters.provider,
    key: parameters.key_id,
    member: parameters.member_id,
    tag: parameters.tag,
    account: undefined,
  }
}

/** Returns a text that is the same for searches that show the same. */
function toText(search: ExplorerSearch, nowMs: number): string {
  const { from, to } = toSpan(search, nowMs)
  const { organization: _organization, ...shownBy } = search
  return JSON.stringify(
    Object.entries({ ...shownBy, from, to })
      .filter(([, value]) => value !== undefined)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )
}

/** Finds the view that shows what a search shows. */
export const findView = (
  views: readonly SavedView[],
  search: ExplorerSearch,
  nowMs: number,
): SavedView | undefined => {
  const text = toText(search, nowMs)
  return views.find(({ parameters }) => toText(toViewSearch(parameters, nowMs), nowMs) === text)
}
