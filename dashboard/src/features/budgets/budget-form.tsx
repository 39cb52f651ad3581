import { Autocomplete, Group, NumberInput, Select, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client'
import { ResourceForm } from '../../components/resource-form'
import { keysQuery } from '../keys/queries'
import {
  budgetsQuery,
  newFields,
  weekdays,
  windowNames,
  type Budget,
  type BudgetFields,
} from './queries'

const units = [
  { value: 'usd', label: 'USD' },
  { value: 'requests', label: 'Requests' },
]
const windows = Object.entries(windowNames).map(([value, label]) => ({ value, label }))
const days = weekdays.map((value) => ({
  value,
  label: value.charAt(0).toUpperCase() + value.slice(1),
}))
const zones = Intl.supportedValuesOf('timeZone')
const maxZones = 20

interface Props {
  /** The budget to change; absent for a new one. */
  budget?: Budget
  onClose: () => void
}

/** Creates a budget, or changes one. */
export function BudgetForm({ budget, onClose }: Props) {
  const queries = useQueryClient()
  const form = useForm<BudgetFields>({
    initialValues: budget ? { ...budget, key_id: budget.key_id ?? '' } : newFields(),
  })
  const save = async ({ key_id, unit, amount, ...rest }: BudgetFields) => {
    const fields = { ...rest, amount: Number(amount) }
    if (budget) {
      const params = { path: { budget_id: budget.id } }
      await api.PATCH('/api/account/budgets/{budget_id}', { params, body: fields })
    } else {
      const body = { ...fields, unit, key_id: key_id === '' ? null : key_id }
      await api.POST('/api/account/budgets', { body })
    }
    await queries.invalidateQueries(budgetsQuery)
    onClose()
  }
  return (
    <ResourceForm
      form={form}
      save={save}
      label={budget ? 'Save' : 'Create budget'}
      onCancel={onClose}
    >
      <TextInput
        label="Name"
        placeholder="Search, per week"
        required
        maxLength={100}
        data-autofocus
        {...form.getInputProps('name')}
      />
      {!budget && <Scope form={form} />}
      <Amount form={form} isNew={!budget} />
      <WindowInputs form={form} />
    </ResourceForm>
  )
}

type Form = UseFormReturnType<BudgetFields>

function Scope({ form }: { form: Form }) {
  const { data: keys = [] } = useQuery(keysQuery)
  return (
    <Select
      label="Applies to"
      allowDeselect={false}
      data={[
        { value: '', label: 'The whole account' },
        ...keys.map(({ id, name }) => ({ value: id, label: `API key ${name}` })),
      ]}
      {...form.getInputProps('key_id')}
    />
  )
}

const Amount = ({ form, isNew }: { form: Form; isNew: boolean }) => (
  <Group grow align="flex-start">
    <NumberInput
      label="Amount"
      required
      min={0}
      decimalScale={form.values.unit === 'usd' ? 2 : 0}
      prefix={form.values.unit === 'usd' ? '$' : ''}
      thousandSeparator
      {...form.getInputProps('amount')}
    />
    {isNew && (
      <Select label="Unit" allowDeselect={false} data={units} {...form.getInputProps('unit')} />
    )}
  </Group>
)

const WindowInputs = ({ form }: { form: Form }) => (
  <>
    <Select label="Per" allowDeselect={false} data={windows} {...form.getInputProps('window')} />
    {form.values.window === 'week' && (
      <Select
        label="Weeks begin on"
        allowDeselect={false}
        data={days}
        {...form.getInputProps('first_weekday')}
      />
    )}
    {form.values.window !== 'total' && (
      <Autocomplete
        label="Time zone"
        description="Windows begin by its calendar and clock"
        required
        data={zones}
        limit={maxZones}
        {...form.getInputProps('time_zone')}
      />
    )}
  </>
)
