import { Select, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { json } from '../api'
import { FormFrame } from '../components/form-frame'
import { OwnerFields } from '../components/owner-fields'
import { connectionsQuery, mine, ownerFields, type Connection } from '../connections'
import {
  poolsEndpoint,
  poolsQuery,
  poolStrategies,
  poolStrategyOf,
  type Pool,
  type PoolStrategy,
} from '../pools'
import { useSubmit } from '../submit'
import { PoolMembers } from './pool-members'

interface Fields {
  name: string
  provider: string
  strategy: PoolStrategy
  connection_ids: string[]
  owner: string
  payer: string
}

const fieldsOf = (pool: Pool | undefined): Fields => ({
  name: pool?.name ?? '',
  provider: pool?.provider ?? '',
  strategy: pool?.strategy ?? 'round_robin',
  connection_ids: pool?.connection_ids ?? [],
  owner: pool?.organization_id ?? mine,
  payer: pool?.billing_mode ?? 'org_pays',
})

async function save(pool: Pool | undefined, { owner, payer, provider, ...fields }: Fields) {
  if (!pool) {
    const body = json({ ...fields, provider, ...ownerFields(owner, payer) })
    return poolsEndpoint.$post(undefined, body)
  }
  const body = json({ ...fields, ...(owner !== mine && { billing_mode: payer }) })
  return poolsEndpoint[':id'].$put({ param: { id: pool.id } }, body)
}

interface Props {
  /** Undefined for a new pool. */
  pool?: Pool
  onDone: () => void
}

/** Creates or edits a pool. */
export function PoolForm({ pool, onDone }: Props) {
  const queries = useQueryClient()
  const { data: all = [] } = useQuery(connectionsQuery)
  const form = useForm<Fields>({
    initialValues: fieldsOf(pool),
    validate: {
      connection_ids: (ids) => (ids.length === 0 ? 'Add at least one connection.' : null),
    },
  })
  // Connections belong to a single owner.
  form.watch('owner', () => form.setValues({ provider: '', connection_ids: [] }))
  const submission = useSubmit(async (fields: Fields) => {
    await save(pool, fields)
    await queries.invalidateQueries(poolsQuery)
    notifications.show({ message: `${fields.name} was ${pool ? 'changed' : 'made'}.` })
    onDone()
  }, form)
  const { owner, provider } = form.values
  const owned = all.filter((one) => (one.organization_id ?? mine) === owner)
  return (
    <FormFrame
      form={form}
      submission={submission}
      label={pool ? 'Save' : 'Create'}
      onCancel={onDone}
    >
      <TextInput
        label="Name"
        required
        maxLength={100}
        data-autofocus
        {...form.getInputProps('name')}
      />
      {!pool && <OwnerFields form={form} owner="owner" payer="payer" />}
      {!pool && <Provider form={form} connections={owned} />}
      <Select
        label="Routing strategy"
        description={poolStrategies[form.values.strategy][1]}
        inputWrapperOrder={['label', 'input', 'description']}
        allowDeselect={false}
        data={Object.entries(poolStrategies).map(([value, [label]]) => ({ value, label }))}
        value={form.values.strategy}
        onChange={(name) => form.setFieldValue('strategy', poolStrategyOf(name))}
      />
      <PoolMembers
        ids={form.values.connection_ids}
        connections={owned.filter((one) => one.provider === provider)}
        error={form.errors['connection_ids']}
        onChange={(ids) => form.setFieldValue('connection_ids', ids)}
      />
    </FormFrame>
  )
}

interface ProviderProps {
  form: UseFormReturnType<Fields>
  connections: readonly Connection[]
}

/** Selects the provider; a change clears the members, which belong to one provider. */
const Provider = ({ form, connections }: ProviderProps) => (
  <Select
    label="Provider"
    description="A provider of your connections"
    required
    allowDeselect={false}
    nothingFoundMessage="No connections yet"
    data={[...new Set(connections.map(({ provider }) => provider))].toSorted()}
    {...form.getInputProps('provider')}
    onChange={(provider) => form.setValues({ provider: provider ?? '', connection_ids: [] })}
  />
)
