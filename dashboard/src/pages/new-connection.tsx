import { PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { api, json } from '../api'
import { FormFrame } from '../components/form-frame'
import { OwnerFields } from '../components/owner-fields'
import { connectionsQuery, mine, ownerFields } from '../connections'
import { useSubmit } from '../submit'

const initialValues = {
  name: '',
  provider: '',
  api_key: '',
  endpoint_url: '',
  owner: mine,
  payer: 'org_pays',
}

export function NewConnection({ onDone }: { onDone: () => void }) {
  const queries = useQueryClient()
  const form = useForm({ initialValues })
  const submission = useSubmit(async ({ owner, payer, ...fields }: typeof initialValues) => {
    const given = Object.entries(fields).filter(([, value]) => value !== '')
    const sent = { ...Object.fromEntries(given), ...ownerFields(owner, payer) }
    await api.connections.$post(undefined, json(sent))
    await queries.invalidateQueries(connectionsQuery)
    notifications.show({ message: `${fields.name} was added.` })
    onDone()
  }, form)
  return (
    <FormFrame form={form} submission={submission} label="Add" onCancel={onDone}>
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
    </FormFrame>
  )
}
