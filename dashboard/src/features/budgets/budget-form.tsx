import { Autocomplete, Group, NumberInput, Select, TagsInput, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { useQueryClient, type QueryKey } from '@tanstack/react-query'
import { ResourceForm } from '../../components/resource-form'
import { findPercentsFault, parsePercents, usualPercents } from './percents'
import {
  newFields,
  toSentOverride,
  toFields,
  weekdays,
  windowNames,
  type Budget,
  type BudgetActions,
  type BudgetFields,
} from './queries'

const units = [
  { value: 'usd', label: 'USD' },
  { value: 'requests', label: 'Requests' },
  { value: 'tokens', label: 'Tokens' },
]
const enforcements = [
  { value: 'hard', label: 'Reject requests' },
  { value: 'soft', label: 'Only notify' },
]
const windows = Object.entries(windowNames).map(([value, label]) => ({ value, label }))
const days = weekdays.map((value) => ({
  value,
  label: value.charAt(0).toUpperCase() + value.slice(1),
}))
const zones = Intl.supportedValuesOf('timeZone')
const maxZones = 20

/** An account, a key, a member or others that a new budget may apply to. */
interface Subject {
  value: string
  label: string
}

/** How the budgets of an account or an organization are changed, and what lists them. */
export interface BudgetOwner {
  actions: BudgetActions
  queryKey: QueryKey
  subjects: readonly Subject[]
}

interface Props {
  owner: BudgetOwner
  /** The budget to change; absent for a new one. */
  budget?: Budget
  onClose: () => void
}

/** Creates a budget, or changes one. */
export function BudgetForm({ owner: { actions, queryKey, subjects }, budget, onClose }: Props) {
  const queries = useQueryClient()
  const form = useForm<BudgetFields>({
    initialValues: budget ? toFields(budget) : newFields(),
    validate: { notify_percents: findPercentsFault },
  })
  const save = async (values: BudgetFields) => {
    const { name, subject, unit, amount, models, providers, tags, notify_percents } = values
    const { window, time_zone, first_weekday, enforcement } = values
    const rest = { name, window, time_zone, first_weekday, enforcement }
    const percents = parsePercents(notify_percents)
    const fields = { ...rest, amount: Number(amount), notify_percents: percents }
    const filter = { models: orNull(models), providers: orNull(providers), tags: orNull(tags) }
    await (budget
      ? actions.change(budget.id, { ...fields, override: toSentOverride(values, budget) })
      : actions.create({ ...fields, ...filter, unit }, subject))
    await queries.invalidateQueries({ queryKey })
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
      {!budget && <Scope form={form} subjects={subjects} />}
      {!budget && <Filter form={form} />}
      <Amount form={form} isNew={!budget} />
      {budget && <OverrideInputs form={form} />}
      <WindowInputs form={form} />
      <Enforcement form={form} isNew={!budget} />
    </ResourceForm>
  )
}

type Form = UseFormReturnType<BudgetFields>

const Scope = ({ form, subjects }: { form: Form; subjects: readonly Subject[] }) => (
  <Select
    label="Applies to"
    allowDeselect={false}
    data={[...subjects]}
    {...form.getInputProps('subject')}
  />
)

const orNull = (names: string[]) => (names.length === 0 ? null : names)

/** The requests that count; they stay as they are when a budget is changed. */
const Filter = ({ form }: { form: Form }) => (
  <>
    <TagsInput
      label="Models"
      description="IDs, or a provider followed by /*; empty for all"
      {...form.getInputProps('models')}
    />
    <TagsInput
      label="Providers"
      description="As model IDs begin; empty for all"
      {...form.getInputProps('providers')}
    />
    <TagsInput
      label="Tags"
      description="Only requests with all of them count; empty for all"
      {...form.getInputProps('tags')}
    />
  </>
)

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

/** An amount for a time; without an amount there is none. */
const OverrideInputs = ({ form }: { form: Form }) => (
  <Group grow align="flex-start">
    <NumberInput
      label="Override"
      description="Replaces the amount until it ends; empty for none"
      min={0}
      decimalScale={form.values.unit === 'usd' ? 2 : 0}
      prefix={form.values.unit === 'usd' ? '$' : ''}
      thousandSeparator
      {...form.getInputProps('override_amount')}
    />
    <TextInput
      label="Override ends"
      description="In the time zone of this browser"
      type="datetime-local"
      required={form.values.override_amount !== ''}
      {...form.getInputProps('override_until')}
    />
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

/** A new budget has the percents that are usual for what it does when it is used up, until others are entered. */
function Enforcement({ form, isNew }: { form: Form; isNew: boolean }) {
  const { enforcement, notify_percents: percents } = form.values
  const change = (value: string | null) => {
    const chosen = value === 'soft' ? 'soft' : 'hard'
    form.setFieldValue('enforcement', chosen)
    if (isNew && percents === usualPercents[enforcement])
      form.setFieldValue('notify_percents', usualPercents[chosen])
  }
  return (
    <>
      <Select
        label="When it is used up"
        allowDeselect={false}
        data={enforcements}
        {...form.getInputProps('enforcement')}
        onChange={change}
      />
      <TextInput
        label="Notify at percent"
        description="Of the amount, by inbox, email and your destinations; empty for never"
        placeholder={usualPercents[enforcement]}
        autoComplete="off"
        {...form.getInputProps('notify_percents')}
      />
    </>
  )
}
