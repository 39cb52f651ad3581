import { PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { api, type Schemas } from '../../api/client'
import { toBody } from '../../components/changed-fields'
import { ResourceForm } from '../../components/resource-form'
import { OwnerFields } from '../organizations/owner-fields'
import {
  networkErrors,
  toNetworkChange,
  toNetworkFields,
  type NetworkFields,
} from './network-fields'
import { NetworkSection } from './network-section'
import { connectionsQuery, mine, ownerFields, type BillingMode } from './queries'

interface Fields {
  name: string
  provider: string
  api_key: string
  endpoint_url: string
  owner: string
  payer: BillingMode
  network: NetworkFields
}

const initialValues: Fields = {
  name: '',
  provider: '',
  api_key: '',
  endpoint_url: '',
  owner: mine,
  payer: 'org_pays',
  network: toNetworkFields(null),
}

export function NewConnection({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const form = useForm({ initialValues })
  const save = async ({ owner, payer, network, ...fields }: Fields) => {
    const change = toNetworkChange(network, null)
    const body = toBody<Schemas['NewConnection']>({
      ...fields,
      ...ownerFields(owner, payer),
      ...(change && { network: change }),
    })
    await api.POST('/api/connections', { body })
    await queries.invalidateQueries(connectionsQuery)
    notifications.show({ message: `${fields.name} was added.` })
    onClose()
  }
  return (
    <ResourceForm
      form={form}
      save={save}
      label="Add"
      onCancel={onClose}
      errorFields={networkErrors(form)}
    >
      <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
      <TextInput
        label="Provider"
        description="The prefix of its model names: openai, anthropic, google, …"
        required
        {...form.getInputProps('provider')}
      />
      <PasswordInput
        label="API key"
        description="Stored encrypted and never shown again"
        autoComplete="off"
        {...form.getInputProps('api_key')}
      />
      <TextInput
        label="Base URL"
        description="Only if it differs from the provider's; https"
        type="url"
        {...form.getInputProps('endpoint_url')}
      />
      <OwnerFields form={form} owner="owner" payer="payer" />
      <NetworkSection form={form} />
    </ResourceForm>
  )
}
