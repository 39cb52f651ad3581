import {
  Autocomplete,
  Button,
  Collapse,
  Group,
  NumberInput,
  Paper,
  Select,
  SimpleGrid,
  Stack,
  TextInput,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { NamedSelect } from '../../components/named-select'
import { SearchBox } from '../../components/search-box'
import { useClear, useTyped } from '../../components/use-typed'
import { oneOf } from '../../url/search'
import { LogGatewayFilter } from './log-gateway-filter'
import {
  filterOf,
  logKeysQuery,
  ranges,
  statuses,
  toLogSearch,
  usualRange,
  type LogSearch,
  type LogStats,
} from './queries'

interface Props {
  search: LogSearch
  stats: LogStats | undefined
  onChange: (changed: LogSearch) => void
}

const rangeNames = [
  { value: 'hour', label: 'Last hour' },
  { value: 'day', label: 'Last 24 hours' },
  { value: 'week', label: 'Last 7 days' },
  { value: 'month', label: 'Last 30 days' },
  { value: 'between', label: 'Custom range' },
]

const statusNames = [
  { value: 'success', label: 'Success' },
  { value: 'error', label: 'Error' },
  { value: 'cancelled', label: 'Cancelled' },
]

/** A filter in which every field is absent. */
const noFilters = Object.fromEntries(
  Object.keys(filterOf(toLogSearch({}))).map((name) => [name, undefined]),
)

export function LogFilters({ search, stats, onChange }: Props) {
  const hasMore = [search.key, search.tag, search.gateway, search.min, search.max].some(
    (value) => value !== undefined,
  )
  const [isOpen, { toggle }] = useDisclosure(hasMore)
  const filters = filterOf(search)
  const isFiltered = Object.values(filters).some((value) => value !== undefined)
  const { fieldsKey, clear } = useClear(() => onChange(noFilters))
  return (
    <Paper withBorder p="md" component="section" aria-label="Filters">
      <Stack key={fieldsKey} gap="sm">
        <SearchBox
          aria-label="Search requests"
          placeholder="Request id, part of one, or text of an error"
          value={search.search}
          onSearch={(text) => onChange({ search: text })}
        />
        <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
          <RangeFilter search={search} onChange={onChange} />
          <Select
            label="Status"
            placeholder="All"
            clearable
            data={statusNames}
            value={search.status ?? null}
            onChange={(status) => onChange({ status: oneOf({ status }, 'status', statuses) })}
          />
          <NameFilter
            label="Model"
            placeholder="Model that served"
            value={search.model}
            names={stats?.by_model.map(({ model }) => model) ?? []}
            onChange={(model) => onChange({ model })}
          />
          <NameFilter
            label="Provider"
            placeholder="All"
            value={search.provider}
            names={stats?.by_provider.flatMap(({ provider }) => provider ?? []) ?? []}
            onChange={(provider) => onChange({ provider })}
          />
        </SimpleGrid>
        {search.range === 'between' && <Between search={search} onChange={onChange} />}
        <Collapse expanded={isOpen}>
          {isOpen && <MoreFilters search={search} onChange={onChange} />}
        </Collapse>
        <Group gap="xs">
          <Button size="xs" variant="subtle" onClick={toggle} aria-expanded={isOpen}>
            {isOpen ? 'Fewer filters' : 'More filters'}
          </Button>
          {isFiltered && (
            <Button size="xs" variant="subtle" onClick={clear}>
              Clear filters
            </Button>
          )}
        </Group>
      </Stack>
    </Paper>
  )
}

type FilterProps = Pick<Props, 'search' | 'onChange'>

const RangeFilter = ({ search, onChange }: FilterProps) => (
  <Select
    label="Time"
    data={rangeNames}
    allowDeselect={false}
    value={search.range ?? usualRange}
    onChange={(value) => {
      const range = oneOf({ value }, 'value', ranges)
      onChange({
        range: range === usualRange ? undefined : range,
        ...(range !== 'between' && { from: undefined, to: undefined }),
      })
    }}
  />
)

const Between = ({ search, onChange }: FilterProps) => (
  <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
    <TextInput
      type="datetime-local"
      label="From"
      value={search.from ?? ''}
      onChange={(event) => onChange({ from: event.currentTarget.value || undefined })}
    />
    <TextInput
      type="datetime-local"
      label="To"
      description="Exclusive"
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      value={search.to ?? ''}
      onChange={(event) => onChange({ to: event.currentTarget.value || undefined })}
    />
  </SimpleGrid>
)

interface NameFilterProps {
  label: string
  placeholder: string
  value: string | undefined
  /** The names in the current list. */
  names: readonly string[]
  onChange: (value: string | undefined) => void
}

/** Filters by an exact name. */
function NameFilter({ label, placeholder, value, names, onChange }: NameFilterProps) {
  const [typed, type] = useTyped(value ?? '', (text) => onChange(text || undefined))
  return (
    <Autocomplete
      label={label}
      placeholder={placeholder}
      clearable
      limit={20}
      data={[...new Set(names)].filter((name) => name !== '')}
      value={typed}
      onChange={type}
    />
  )
}

function MoreFilters({ search, onChange }: FilterProps) {
  const keys = useQuery(logKeysQuery)
  const options = keys.data?.map(({ id, name, key_prefix }) => ({
    id,
    name: `${name} (${key_prefix}…)`,
  }))
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
      <NamedSelect
        label="API key"
        options={options}
        error={keys.error}
        value={search.key}
        onChange={(key) => onChange({ key })}
      />
      <NameFilter
        label="Tag"
        placeholder="All"
        value={search.tag}
        names={[...new Set(keys.data?.flatMap(({ tags }) => tags))]}
        onChange={(tag) => onChange({ tag })}
      />
      <LogGatewayFilter value={search.gateway} onChange={(gateway) => onChange({ gateway })} />
      <LatencyFilter
        label="Min. duration"
        value={search.min}
        onChange={(min) => onChange({ min })}
      />
      <LatencyFilter
        label="Max. duration"
        value={search.max}
        onChange={(max) => onChange({ max })}
      />
    </SimpleGrid>
  )
}

interface LatencyProps {
  label: string
  value: number | undefined
  onChange: (value: number | undefined) => void
}

const maxMs = 2_147_483_647

function LatencyFilter({ label, value, onChange }: LatencyProps) {
  const [typed, type] = useTyped(value?.toString() ?? '', (text) =>
    onChange(text === '' ? undefined : Number(text)),
  )
  return (
    <NumberInput
      label={label}
      suffix=" ms"
      min={0}
      max={maxMs}
      allowDecimal={false}
      allowNegative={false}
      clampBehavior="strict"
      value={typed}
      onChange={(number) => type(String(number))}
    />
  )
}
