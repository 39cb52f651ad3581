import { Modal, PasswordInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { api, json } from '../api'
import { connectionsQuery } from '../connections'
import { FormFrame } from '../components/form-frame'
import { useSubmit } from '../submit'

interface Props {
  id: string
  name: string
  onDone: () => void
}

export function ReplaceKey({ id, name, onDone }: Props) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: { api_key: '' } })
  const submission = useSubmit(async (fields: typeof form.values) => {
    await api.connections[':id']['update-key'].$post({ param: { id } }, json(fields))
    await queries.invalidateQueries(connectionsQuery)
    notifications.show({ message: `The key of ${name} was replaced.` })
    onDone()
  }, form)
  return (
    <Modal opened onClose={onDone} title={`Replace the key of ${name}`}>
      <FormFrame form={form} submission={submission} label="Replace" onCancel={onDone}>
        <PasswordInput
          label="New API key"
          autoComplete="off"
          required
          data-autofocus
          {...form.getInputProps('api_key')}
        />
      </FormFrame>
    </Modal>
  )
}
