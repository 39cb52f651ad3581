import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { Page } from '../../components/page'
import type { Dimension, ExplorerSearch } from '../../url/explorer'
import { measures } from '../../url/period'
import { isManager, organizationsQuery } from '../organizations/queries'
import { Explorer } from './explorer'
import {
  accountDimensions,
  breakdownQuery,
  installationBreakdownQuery,
  installationDimensions,
  organizationDimensions,
  type Question,
} from './queries'
import { SavedViews } from './saved-views'
import { toSpan, usualInterval } from './span'

const route = getRouteApi('/home/explorer')
const operatorRoute = getRouteApi('/home/operator/explorer')

/** Reads what an address asks for; a grouping that is not available counts as absent. */
function useQuestion(search: ExplorerSearch, available: readonly Dimension[]): Question {
  const { from, to, by, split, every, measure: _measure, compare, organization, ...filter } = search
  // The days of an address stay the same while the page is open.
  const span = useMemo(() => toSpan({ from, to, compare }, Date.now()), [from, to, compare])
  const first = by && available.includes(by) ? by : 'model'
  return {
    span,
    every: every ?? usualInterval(span),
    by: first,
    split: split && split !== first && available.includes(split) ? split : undefined,
    compare,
    filter,
    organization,
  }
}

const own = 'own'

/** The usage of the account, or of the credits of an organization that the account manages. */
export function ExplorerPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const available = search.organization === undefined ? accountDimensions : organizationDimensions
  const question = useQuestion(search, available)
  const query = useQuery(breakdownQuery(question))
  const { data: organizations = [] } = useQuery(organizationsQuery)
  const managed = organizations.filter((one) => one.status === 'active' && isManager(one))
  const onSearch = (changed: ExplorerSearch) =>
    void navigate({ search: (now) => ({ ...now, ...changed }), replace: true })
  return (
    <Page
      title="Explorer"
      about="Usage by model, provider, key, tags or member, over any days. Select a name to see its requests alone."
    >
      <Explorer
        question={question}
        available={available}
        query={query}
        measure={measures.find((name) => name === search.measure) ?? 'cost'}
        onSearch={onSearch}
        views={<SavedViews search={search} onSearch={onSearch} />}
      >
        {managed.length > 0 && (
          <Select
            label="Usage of"
            allowDeselect={false}
            data={[
              { value: own, label: 'Your account' },
              ...managed.map(({ id, name }) => ({ value: id, label: name })),
            ]}
            value={search.organization ?? own}
            onChange={(id) =>
              onSearch({
                organization: id === own || id === null ? undefined : id,
                key: undefined,
                member: undefined,
              })
            }
          />
        )}
      </Explorer>
    </Page>
  )
}

/** The usage of all accounts, for operators. */
export function InstallationExplorerPage() {
  const search = operatorRoute.useSearch()
  const navigate = operatorRoute.useNavigate()
  const question = useQuestion(search, installationDimensions)
  const query = useQuery(installationBreakdownQuery(question))
  return (
    <Page
      title="Explorer of all accounts"
      about="Usage and margin of all accounts by model, provider, account or tags, over any days. Select a name to see its requests alone."
    >
      <Explorer
        question={question}
        available={installationDimensions}
        query={query}
        measure={search.measure ?? 'cost'}
        onSearch={(changed) =>
          void navigate({ search: (now) => ({ ...now, ...changed }), replace: true })
        }
      />
    </Page>
  )
}
