import { Checkbox, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { api, json } from '../api'
import { FormFrame } from '../components/form-frame'
import { OwnerSelect } from '../components/owner-fields'
import { mine } from '../connections'
import { useSubmit } from '../submit'

const initialValues = { name: '', owner: mine, is_public: false }

/** The fields in the shape the API expects: a personal gateway is never public. */
const sent = ({ name, owner, is_public }: typeof initialValues) =>
  owner === mine ? { name } : { name, scope: 'organization', organization_id: owner, is_public }

const create = async (fields: object) => (await api.gateways.$post(undefined, json(fields))).json()

/** A gateway with its token, which is returned once. */
export type MadeGateway = Awaited<ReturnType<typeof create>>

interface Props {
  onMade: (made: MadeGateway) => void
  onCancel: () => void
}

export function NewGateway({ onMade, onCancel }: Props) {
  const form = useForm({ initialValues })
  const submission = useSubmit(async (fields: typeof initialValues) => {
    onMade(await create(sent(fields)))
  }, form)
  return (
    <FormFrame form={form} submission={submission} label="Create" onCancel={onCancel}>
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
    </FormFrame>
  )
}
