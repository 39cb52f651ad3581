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

/** Returns the days of a search: a preset follows the calendar, other days stay as they are. */
function toDays(search: ExplorerSearch, nowMs: number, zone: string) {
  const { from, to } = toSpan(search, nowMs, zone)
  const preset = listPresets(nowMs, zone).find((one) => one.from === from && one.to === to)
  const period = preset && periods[preset.name]
  return period ? { period } : { start_date: from, end_date: to }
}

/** Returns the parameters of a view that shows what a search shows. */
export function toViewParameters(
  search: ExplorerSearch,
  nowMs: number,
  zone = browserZone(),
): Parameters {
  const { by, split, every, measure, compare, model, provider, key, member, tag } = search
  return {
    ...toDays(search, nowMs, zone),
    group_by: by === 'account' ? undefined : by,
    split_by: split === 'account' ? undefined : split,
    granularity: every,
    measure,
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

const isSame = (one: Parameters, other: Parameters) => {
  const textOf = (parameters: Parameters) =>
    JSON.stringify(
      Object.entries(parameters)
        .filter(([, value]) => value !== undefined)
        .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    )
  return textOf(one) === textOf(other)
}

/** Finds the view that shows what a search shows. */
export const findView = (
  views: readonly SavedView[],
  search: ExplorerSearch,
  nowMs: number,
): SavedView | undefined => {
  const parameters = toViewParameters(search, nowMs)
  return views.find((view) => isSame(view.parameters, parameters))
}
