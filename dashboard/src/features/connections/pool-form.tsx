import { Select, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client'
import { ResourceForm } from '../../components/resource-form'
import { OwnerFields } from '../organizations/owner-fields'
import { connectionsQuery, mine, ownerFields, type BillingMode, type Connection } from './queries'
import {
  poolsQuery,
  poolStrategies,
  poolStrategyOf,
  type Pool,
  type PoolStrategy,
} from './pool-queries'
import { PoolMembers } from './pool-members'

interface Fields {
  name: string
  provider: string
  strategy: PoolStrategy
  connection_ids: string[]
  owner: string
  payer: BillingMode
}

const fieldsOf = (pool: Pool | undefined): Fields => ({
  name: pool?.name ?? '',
  provider: pool?.provider ?? '',
  strategy: pool?.strategy ?? 'round_robin',
  connection_ids: pool?.connection_ids ?? [],
  owner: pool?.organization_id ?? mine,
  payer: pool?.billing_mode ?? 'org_pays',
})

async function savePool(pool: Pool | undefined, { owner, payer, provider, ...fields }: Fields) {
  if (!pool) {
    const body = { ...fields, provider, ...ownerFields(owner, payer) }
    return api.POST('/api/connection-pools', { body })
  }
  const body = { ...fields, ...(owner !== mine && { billing_mode: payer }) }
  return api.PUT('/api/connection-pools/{id}', {
    params: { path: { id: pool.id } },
    body,
  })
}

interface Props {
  /** Undefined for a new pool. */
  pool?: Pool
  onClose: () => void
}

/** Creates or edits a pool. */
export function PoolForm({ pool, onClose }: Props) {
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
  const save = async (fields: Fields) => {
    await savePool(pool, fields)
    await queries.invalidateQueries(poolsQuery)
    notifications.show({ message: `${fields.name} was ${pool ? 'changed' : 'made'}.` })
    onClose()
  }
  const { owner, provider } = form.values
  const owned = all.filter((one) => (one.organization_id ?? mine) === owner)
  return (
    <ResourceForm form={form} save={save} label={pool ? 'Save' : 'Create'} onCancel={onClose}>
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
    </ResourceForm>
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
