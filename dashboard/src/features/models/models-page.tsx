import {
  Alert,
  Anchor,
  Button,
  Code,
  Group,
  Paper,
  SegmentedControl,
  Stack,
  Table,
  Text,
} from '@mantine/core'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ComponentProps } from 'react'
import { balanceQuery } from '../billing/queries'
import { settingsQuery } from '../settings/queries'
import { FavoriteModel } from './favorite-model'
import { ResourceList } from '../../components/resource-list'
import { allRows, toRows } from '../../api/paging'
import { Page } from '../../components/page'
import {
  chargedQuery,
  favoritesQuery,
  maxCompared,
  modelsQuery,
  type Favorite,
  type ModelSearch,
} from './queries'
import { count } from '../../format/figures'
import { yes } from '../../url/address'
import { ModelDrawer } from './model-drawer'
import { isFiltered, ModelFilters } from './model-filters'
import { ModelTable } from './model-table'

export function ModelsPage() {
  const search = useSearch({ from: '/home/models' })
  const navigate = useNavigate({ from: '/models' })
  const change = (changed: ModelSearch) =>
    void navigate({
      search: (before) => ({ ...before, ...changed }),
      replace: true,
      resetScroll: false,
    })
  const { compare: compared = [] } = search
  const select = (ids: string[]) => change({ compare: ids.length === 0 ? undefined : ids })
  const selection = {
    compared,
    onCompare: (id: string, isCompared: boolean) =>
      select(isCompared ? [...compared, id] : compared.filter((other) => other !== id)),
  }
  const isFavorites = search.favorites === yes
  return (
    <Page
      title="Models"
      about="The models that you can call, their prices and how they are billed."
      actions={
        <SegmentedControl
          aria-label="Models shown"
          data={[
            { value: 'available', label: 'Available to me' },
            { value: 'all', label: 'All' },
            { value: 'favorites', label: 'Favorites' },
          ]}
          value={isFavorites ? 'favorites' : search.all === yes ? 'all' : 'available'}
          onChange={(list) =>
            change({
              favorites: list === 'favorites' ? yes : undefined,
              all: list === 'all' ? yes : undefined,
            })
          }
        />
      }
    >
      {compared.length > 0 && <Selection ids={compared} onClear={() => select([])} />}
      {isFavorites ? (
        <Favorites {...selection} />
      ) : (
        <>
          <NoCredit />
          <ModelFilters search={search} onChange={change} />
          <Catalogue search={search} selection={selection} onShowAll={() => change({ all: yes })} />
        </>
      )}
      {search.model !== undefined && (
        <ModelDrawer id={search.model} onClose={() => change({ model: undefined })} />
      )}
    </Page>
  )
}

/** Without credit, a request to a model that is paid from the account's credits is rejected. */
function NoCredit() {
  const { data: balance } = useQuery(balanceQuery())
  const { data: settings } = useQuery(settingsQuery)
  const { data: isCharged = false } = useQuery(chargedQuery)
  // The pool of an organization may pay instead.
  const paysItself = settings?.funding_source === 'personal'
  if (!balance?.is_charged || balance.available_balance > 0 || !paysItself || !isCharged)
    return null
  return (
    <Alert color="yellow">
      You have no credits: requests to models that are paid by your credits are rejected.{' '}
      <Anchor
        size="sm"
        underline="always"
        renderRoot={(props) => <Link to="/billing" {...props} />}
      >
        Add credits
      </Anchor>
    </Alert>
  )
}

interface SelectionProps {
  ids: readonly string[]
  onClear: () => void
}

/** The models selected for comparison. */
const Selection = ({ ids, onClear }: SelectionProps) => (
  <Paper
    withBorder
    p="xs"
    pos="sticky"
    top="calc(var(--app-shell-header-height, 0px) + 8px)"
    style={{ zIndex: 2 }}
  >
    <Group justify="space-between" gap="xs">
      <Text size="sm" role="status">
        {ids.length} of {maxCompared} models selected
      </Text>
      <Group gap="xs">
        <Button size="xs" variant="subtle" onClick={onClear}>
          Clear
        </Button>
        <Button
          size="xs"
          renderRoot={(props) => (
            <Link to="/models/compare" search={{ models: [...ids] }} {...props} />
          )}
        >
          Compare
        </Button>
      </Group>
    </Group>
  </Paper>
)

type Selecting = Pick<ComponentProps<typeof ModelTable>, 'compared' | 'onCompare'>

interface CatalogueProps {
  search: ModelSearch
  selection: Selecting
  onShowAll: () => void
}

function Catalogue({ search, selection, onShowAll }: CatalogueProps) {
  const query = useInfiniteQuery({ ...modelsQuery(search), placeholderData: keepPreviousData })
  const showAll = (
    <Button variant="default" onClick={onShowAll}>
      Search all models
    </Button>
  )
  return (
    <ResourceList
      query={query}
      rows={({ pages }) => toRows(pages, ({ models }) => models)}
      plural="models"
      empty={search.all === yes ? noModels : { ...noneAvailable, action: showAll }}
      isFiltered={isFiltered(search)}
      unfilter={search.all === yes ? undefined : showAll}
    >
      {(models, { pages }) => (
        <>
          <Text size="sm" c="dimmed">
            {describeCount(pages[0]?.pagination.total ?? models.length, search)}
          </Text>
          <ModelTable models={models} {...selection} />
        </>
      )}
    </ResourceList>
  )
}

/** Says how many models are listed, and whether the account can call them. */
function describeCount(total: number, search: ModelSearch): string {
  const matching = isFiltered(search) ? 'matching ' : ''
  const models = `${count(total)} ${matching}${total === 1 ? 'model' : 'models'}`
  return `${models}${search.all === yes ? ', including unavailable ones' : ' available to you'}`
}

const noModels = { title: 'No models yet', text: 'Models appear here once the operator adds them.' }
const noneAvailable = {
  title: 'No models available to you',
  text: 'Add a connection to a provider, or ask the operator to add one.',
}

function Favorites(selection: Selecting) {
  const query = useQuery(favoritesQuery)
  return (
    <ResourceList
      query={query}
      rows={(favorites) => allRows(favorites)}
      plural="favorites"
      empty={{
        title: 'No favorites yet',
        text: 'Select the star beside a model to add it here.',
      }}
    >
      {(favorites) => {
        const models = favorites.flatMap(({ model }) => model ?? [])
        const others = favorites.filter(({ model }) => model === null)
        return (
          <Stack>
            {models.length > 0 && <ModelTable models={models} {...selection} />}
            {others.length > 0 && <Others favorites={others} />}
          </Stack>
        )
      }}
    </ResourceList>
  )
}

/** Favorites that are not models: collections and deleted items. */
function Others({ favorites }: { favorites: readonly Favorite[] }) {
  return (
    <Table verticalSpacing="xs" aria-label="Collections and deleted models">
      <Table.Tbody>
        {favorites.map(({ model_id: id }) => (
          <Table.Tr key={id}>
            <Table.Td w={44}>
              <FavoriteModel id={id} isOn />
            </Table.Td>
            <Table.Td>
              <Group gap="xs">
                <Code>{id}</Code>
                {id.startsWith('collection/') ? (
                  <Anchor size="sm" renderRoot={(props) => <Link to="/collections" {...props} />}>
                    Collections
                  </Anchor>
                ) : (
                  <Text size="sm" c="dimmed">
                    deleted
                  </Text>
                )}
              </Group>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
