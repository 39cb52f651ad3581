import { Checkbox, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { api, bodyOf, type Schemas } from '../../api/client'
import { ResourceForm } from '../../components/resource-form'
import { OwnerSelect } from '../organizations/owner-fields'
import { mine } from '../connections/queries'

const initialValues = { name: '', owner: mine, is_public: false }

/** The fields in the shape the API expects: a personal gateway is never public. */
const toBody = ({ name, owner, is_public }: typeof initialValues) =>
  owner === mine
    ? { name }
    : { name, scope: 'organization' as const, organization_id: owner, is_public }

/** A gateway with its token, which is returned once. */
export type CreatedGateway = Schemas['MadeGateway']

interface Props {
  onCreated: (created: CreatedGateway) => void
  onCancel: () => void
}

export function NewGateway({ onCreated, onCancel }: Props) {
  const form = useForm({ initialValues })
  const save = async (fields: typeof initialValues) => {
    onCreated(await bodyOf(api.POST('/api/gateways', { body: toBody(fields) })))
  }
  return (
    <ResourceForm form={form} save={save} label="Create" onCancel={onCancel}>
      <TextInput
        label="Name"
        description="Where it runs: a machine, a network, a site"
        required
        maxLength={100}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <OwnerSelect
        description="Members of an organization may use the models and tools of its gateways."
        {...form.getInputProps('owner')}
      />
      {form.values.owner !== mine && (
        <Checkbox
          label="Public"
          description="While the organization is public too, anyone can see the names of the gateway and its organization, its status, models, latency and availability. Only members may use it."
          {...form.getInputProps('is_public', { type: 'checkbox' })}
        />
      )}
    </ResourceForm>
  )
}
