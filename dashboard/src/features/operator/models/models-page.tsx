import { Anchor, Badge, Group, Modal, Select, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { ModelEditor } from './model-editor'
import { NewModel } from './new-model'
import { FilterSelect } from '../../../components/filter-select'
import { Filters } from '../../../components/filters'
import { Page } from '../../../components/page'
import { PermittedButton } from '../../../components/permitted'
import { ListTable } from '../../../components/list-table'
import { ResourceList } from '../../../components/resource-list'
import { SearchBox } from '../../../components/search-box'
import { providersQuery } from '../../models/queries'
import { compact, count } from '../../../format/figures'
import { exactUsd } from '../../../format/money'
import {
  categories,
  modelsQuery,
  sortOf,
  stateNames,
  usualSort,
  type Model,
  type ModelSearch,
} from './queries'

const route = getRouteApi('/home/operator/models')
const columns = [
  { name: 'Model', sort: 'name' },
  { name: 'Status', position: 'aside' },
  { name: 'Context', isNumber: true, sort: 'context_length' },
  { name: 'Input / 1M', isNumber: true, sort: 'input_price' },
  { name: 'Output / 1M', isNumber: true, sort: 'output_price' },
] as const

export function OperatedModelsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [isOpen, { open, close }] = useDisclosure()
  const { page = 1, model: openId, sort = usualSort, order, ...filter } = search
  const change = (changed: ModelSearch) =>
    void navigate({ search: (now) => ({ ...now, page: undefined, ...changed }), replace: true })
  const show = (model: string | undefined) =>
    void navigate({ search: (now) => ({ ...now, model }), resetScroll: false })
  return (
    <Page
      title="Catalog"
      about="All models and their platform prices. Changes here override the built-in catalog."
      actions={<PermittedButton to="POST /api/admin/models" label="New model" onClick={open} />}
    >
      <CatalogFilters search={search} onChange={change} />
      <ResourceList
        rows={(list) => list}
        query={useQuery(modelsQuery(search))}
        plural="models"
        empty={{ title: 'No models yet', text: 'Add a model of a provider.' }}
        isFiltered={Object.values(filter).some((value) => value !== undefined)}
        paging={{
          page: page,
          onPage: (next) => void navigate({ search: (now) => ({ ...now, page: next }) }),
        }}
      >
        {(models) => (
          <ListTable
            columns={columns}
            minWidth={780}
            sorting={{
              order: { by: sort, isDescending: order === 'desc' },
              onSort: ({ by, isDescending }) =>
                change({ sort: sortOf(by), order: isDescending ? 'desc' : undefined }),
            }}
          >
            {models.map((model) => (
              <Row key={model.id} model={model} />
            ))}
          </ListTable>
        )}
      </ResourceList>
      <Modal opened={isOpen} onClose={close} title="New model" size="lg">
        <NewModel
          onClose={close}
          onCreated={(id) => {
            close()
            show(id)
          }}
        />
      </Modal>
      {openId !== undefined && (
        <ModelEditor key={openId} id={openId} onClose={() => show(undefined)} />
      )}
    </Page>
  )
}

interface FiltersProps {
  search: ModelSearch
  onChange: (changed: ModelSearch) => void
}

function CatalogFilters({ search, onChange }: FiltersProps) {
  const { data: providers = [] } = useQuery(providersQuery)
  const isKnown = providers.some(({ value }) => value === search.provider)
  // A disabled provider is not in the public list, but may still be selected.
  const selected = search.provider === undefined || isKnown ? [] : [search.provider]
  return (
    <Filters>
      <SearchBox
        aria-label="Search models"
        placeholder="ID or name"
        value={search.search}
        onSearch={(text) => onChange({ search: text })}
      />
      <Select
        aria-label="Provider"
        placeholder="All providers"
        clearable
        searchable
        data={[...selected.map((key) => ({ value: key, label: key })), ...providers]}
        value={search.provider ?? null}
        onChange={(provider) => onChange({ provider: provider ?? undefined })}
      />
      <FilterSelect
        label="Category"
        all="All categories"
        names={categories}
        value={search.category}
        onChange={(category) => onChange({ category })}
      />
      <FilterSelect
        label="Status"
        all="All statuses"
        names={stateNames}
        value={search.state}
        onChange={(state) => onChange({ state })}
      />
    </Filters>
  )
}

const Row = ({ model }: { model: Model }) => (
  <Table.Tr>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Anchor
        size="sm"
        fw={500}
        renderRoot={(props) => (
          <Link
            from="/operator/models"
            to="."
            search={(now) => ({ ...now, model: model.id })}
            resetScroll={false}
            {...props}
          />
        )}
      >
        {model.name}
      </Anchor>
      <Text size="xs" c="dimmed" ff="monospace">
        {model.id}
      </Text>
    </Table.Td>
    <Table.Td>
      <ModelBadges model={model} />
    </Table.Td>
    <Table.Td
      ta="right"
      title={model.context_length === null ? undefined : `${count(model.context_length)} tokens`}
    >
      {model.context_length === null ? '–' : compact(model.context_length)}
    </Table.Td>
    <Table.Td ta="right">{exactUsd(model.pricing?.input ?? null)}</Table.Td>
    <Table.Td ta="right">{exactUsd(model.pricing?.output ?? null)}</Table.Td>
  </Table.Tr>
)

const ModelBadges = ({ model }: { model: Model }) => (
  <Group gap={6}>
    <Badge variant="light" color={model.enabled ? 'green' : 'gray'}>
      {model.enabled ? 'enabled' : 'disabled'}
    </Badge>
    {model.is_free && (
      <Badge variant="light" color="green">
        free
      </Badge>
    )}
    {!model.is_free && model.pricing === null && (
      <Badge variant="light" color="orange">
        no price
      </Badge>
    )}
    {model.deprecated_at !== null && (
      <Badge variant="light" color="orange">
        deprecated
      </Badge>
    )}
  </Group>
)
