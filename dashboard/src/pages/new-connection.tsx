import { PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { api, json } from '../api'
import { connectionsQuery } from '../connections'
import { FormFrame } from '../components/form-frame'
import { useSubmit } from '../submit'

export function NewConnection({ onDone }: { onDone: () => void }) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: { name: '', provider: '', api_key: '', endpoint_url: '' } })
  const submission = useSubmit(async (fields: typeof form.values) => {
    const sent = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
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
        description="As in names of its models: openai, anthropic, google, …"
        required
        {...form.getInputProps('provider')}
      />
      <PasswordInput
        label="API key"
        description="Encrypted, and never shown again"
        autoComplete="off"
        {...form.getInputProps('api_key')}
      />
      <TextInput
        label="Address"
        description="Only where it is not the provider's own; https"
        type="url"
        {...form.getInputProps('endpoint_url')}
      />
    </FormFrame>
  )
}
