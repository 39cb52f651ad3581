import {
  Button,
  Checkbox,
  Group,
  MultiSelect,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  type SelectProps,
} from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { compact } from '../../format/figures'
import { SearchBox } from '../../components/search-box'
import { useClear } from '../../components/use-typed'
import {
  billingNames,
  capabilityNames,
  categoryNames,
  orderNames,
  providersQuery,
  type ModelSearch,
} from './queries'
import { yes } from '../../url/address'

interface Props {
  search: ModelSearch
  onChange: (changed: ModelSearch) => void
}

const toOptions = (names: Record<string, string>) =>
  Object.entries(names).map(([value, label]) => ({ value, label }))

const categories = toOptions(categoryNames)
const capabilities = toOptions(capabilityNames)
const payers = Object.entries(billingNames).map(([value, [label]]) => ({ value, label }))
const orders = toOptions(orderNames)

const noFilters = {
  search: undefined,
  provider: undefined,
  category: undefined,
  capability: undefined,
  billing_mode: undefined,
  free: undefined,
  min_context: undefined,
  max_price: undefined,
}

const contexts = [8, 32, 128, 200, 500, 1000].map((thousands) => ({
  value: String(thousands * 1000),
  label: `At least ${compact(thousands * 1000)} tokens`,
}))
const priceDelayMs = 300

/** Filters by the price of input and output together, a moment after the last digit. */
function MaxPrice({ value, onChoose }: Pick<ChoiceProps, 'value' | 'onChoose'>) {
  const choose = useDebouncedCallback(onChoose, priceDelayMs)
  return (
    <NumberInput
      key={value === undefined ? 'none' : 'set'}
      label="Max. price"
      placeholder="Any"
      title="USD for 1,000,000 tokens of input and 1,000,000 of output together"
      prefix="$"
      min={0}
      decimalScale={4}
      defaultValue={value ?? ''}
      onChange={(price) => choose(price === '' ? undefined : String(price))}
    />
  )
}

export const isFiltered = (search: ModelSearch) =>
  Object.keys(noFilters).some((name) => Reflect.get(search, name) !== undefined)

interface ChoiceProps extends Omit<SelectProps, 'value' | 'onChange'> {
  value: string | undefined
  /** Undefined for any. */
  onChoose: (value: string | undefined) => void
}

const Choice = ({ value, onChoose, ...props }: ChoiceProps) => (
  <Select
    placeholder="Any"
    clearable
    {...props}
    value={value ?? null}
    onChange={(chosen) => onChoose(chosen ?? undefined)}
  />
)

interface CapabilitiesProps {
  names: string[]
  onChange: (names: string[]) => void
}

/** Filters by capabilities; a model must have all of them. */
const Capabilities = ({ names, onChange }: CapabilitiesProps) => (
  <MultiSelect
    label="Capabilities"
    placeholder={names.length === 0 ? 'Any' : ''}
    clearable
    data={capabilities}
    value={names}
    onChange={onChange}
  />
)

/** Filters by context and price. */
const Bounds = ({ search, onChange }: Props) => (
  <>
    <Choice
      label="Context"
      data={contexts}
      value={search.min_context}
      onChoose={(context) => onChange({ min_context: context })}
    />
    <MaxPrice value={search.max_price} onChoose={(price) => onChange({ max_price: price })} />
  </>
)

export function ModelFilters({ search, onChange }: Props) {
  const { data: providers = [] } = useQuery(providersQuery)
  const { fieldsKey, clear } = useClear(() => onChange(noFilters))
  return (
    <Stack key={fieldsKey} gap="sm" component="search">
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
        <SearchBox
          label="Search"
          placeholder="ID or name"
          value={search.search}
          onSearch={(text) => onChange({ search: text })}
        />
        <Choice
          label="Provider"
          searchable
          data={providers}
          value={search.provider}
          onChoose={(provider) => onChange({ provider })}
        />
        <Choice
          label="Category"
          data={categories}
          value={search.category}
          onChoose={(category) => onChange({ category })}
        />
        <Capabilities
          names={search.capability?.split(',') ?? []}
          onChange={(names) => onChange({ capability: names.join(',') || undefined })}
        />
        <Bounds search={search} onChange={onChange} />
        <Choice
          label="Paid by"
          data={payers}
          value={search.billing_mode}
          onChoose={(mode) => onChange({ billing_mode: mode })}
        />
        <Select
          label="Sort by"
          allowDeselect={false}
          data={orders}
          value={search.sort ?? 'id'}
          onChange={(sort) => onChange({ sort: sort === 'id' ? undefined : (sort ?? undefined) })}
        />
      </SimpleGrid>
      <Group justify="space-between" mih={30}>
        <Checkbox
          label="Free only"
          checked={search.free === yes}
          onChange={(event) => onChange({ free: event.currentTarget.checked ? yes : undefined })}
        />
        {isFiltered(search) && (
          <Button size="xs" variant="subtle" onClick={clear}>
            Clear filters
          </Button>
        )}
      </Group>
    </Stack>
  )
}
