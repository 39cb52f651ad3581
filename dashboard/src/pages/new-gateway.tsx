import { Checkbox, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { api, json } from '../api'
import { FormFrame } from '../components/form-frame'
import { OwnerSelect } from '../components/owner-fields'
import { mine } from '../connections'
import { useSubmit } from '../submit'

const initialValues = { name: '', owner: mine, is_public: false }

/** As the service takes them: one's own is public to nobody. */
const sent = ({ name, owner, is_public }: typeof initialValues) =>
  owner === mine ? { name } : { name, scope: 'organization', organization_id: owner, is_public }

const create = async (fields: object) => (await api.gateways.$post(undefined, json(fields))).json()

/** A gateway with its token, which is told once. */
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
    <FormFrame form={form} submission={submission} label="Make it" onCancel={onCancel}>
      <TextInput
        label="Name"
        description="Where its program runs: a machine, a network, a house"
        required
        maxLength={100}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <OwnerSelect
        description="Members of an organization call what its gateways serve, and use their tools."
        {...form.getInputProps('owner')}
      />
      {form.values.owner !== mine && (
        <Checkbox
          label="Public"
          description="As long as the organization is public too, anybody may see its name and the organization’s, its state, its models, how fast it answers and how often it is there. Only members may call it."
          {...form.getInputProps('is_public', { type: 'checkbox' })}
        />
      )}
    </FormFrame>
  )
}
