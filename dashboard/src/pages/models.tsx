import { Anchor, Code, Group, SegmentedControl, Stack, Table, Text } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Empty } from '../components/empty'
import { Failure } from '../components/failure'
import { FavoriteModel } from '../components/favorite-model'
import { Loaded } from '../components/loaded'
import { More } from '../components/more'
import { Page } from '../components/page'
import { count } from '../figures'
import { favoritesQuery, modelsQuery, type Favorite, type ModelSearch } from '../models'
import { yes } from '../address'
import { ModelDrawer } from './model-drawer'
import { ModelFilters } from './model-filters'
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
  const isFavorites = search.favorites === yes
  return (
    <Page
      title="Models"
      about="Available models, their prices and how they are billed."
      actions={
        <SegmentedControl
          aria-label="Models shown"
          data={[
            { value: 'all', label: 'All' },
            { value: 'favorites', label: 'Favourites' },
          ]}
          value={isFavorites ? 'favorites' : 'all'}
          onChange={(list) => change({ favorites: list === 'favorites' ? yes : undefined })}
        />
      }
    >
      {isFavorites ? (
        <Favorites />
      ) : (
        <>
          <ModelFilters search={search} onChange={change} />
          <Catalogue search={search} />
        </>
      )}
      {search.model !== undefined && (
        <ModelDrawer id={search.model} onClose={() => change({ model: undefined })} />
      )}
    </Page>
  )
}

function Catalogue({ search }: { search: ModelSearch }) {
  const query = useInfiniteQuery({ ...modelsQuery(search), placeholderData: keepPreviousData })
  // A rejected filter must show its error rather than the previous list.
  if (query.error) return <Failure error={query.error} reset={() => void query.refetch()} />
  return (
    <Loaded query={query}>
      {({ pages }) => {
        const models = pages.flatMap((page) => page.models)
        if (models.length === 0) {
          return <Empty title="No results">Remove a filter or search for a part of the name.</Empty>
        }
        return (
          <Stack gap="xs" aria-busy={query.isPlaceholderData}>
            <Text size="sm" c="dimmed" role="status">
              {count(pages[0]?.pagination.total ?? 0)} found
            </Text>
            <ModelTable models={models} />
            <More query={query} />
          </Stack>
        )
      }}
    </Loaded>
  )
}

function Favorites() {
  const query = useQuery(favoritesQuery)
  return (
    <Loaded query={query}>
      {(favorites) => {
        if (favorites.length === 0) {
          return (
            <Empty title="No favourites yet">Select the star beside a model to add it here.</Empty>
          )
        }
        const models = favorites.flatMap(({ model }) => model ?? [])
        const others = favorites.filter(({ model }) => model === null)
        return (
          <Stack>
            {models.length > 0 && <ModelTable models={models} />}
            {others.length > 0 && <Others favorites={others} />}
          </Stack>
        )
      }}
    </Loaded>
  )
}

/** Favourites that are not models: collections and deleted items. */
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
