import { Modal, PasswordInput, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { api, json } from '../api'
import { connectionsQuery } from '../connections'
import { FormButtons } from '../components/form-buttons'
import { Problem } from '../components/problem'
import { useSubmit } from '../submit'

interface Props {
  id: string
  name: string
  onDone: () => void
}

export function ReplaceKey({ id, name, onDone }: Props) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: { api_key: '' } })
  const { submit, isBusy, error } = useSubmit(async (fields: typeof form.values) => {
    await api.connections[':id']['update-key'].$post({ param: { id } }, json(fields))
    await queries.invalidateQueries(connectionsQuery)
    notifications.show({ message: `The key of ${name} was replaced.` })
    onDone()
  }, form)
  return (
    <Modal opened onClose={onDone} title={`Replace the key of ${name}`}>
      <form onSubmit={form.onSubmit((fields) => void submit(fields))}>
        <Stack gap="sm">
          <Problem error={error} />
          <PasswordInput
            label="New API key"
            autoComplete="off"
            required
            data-autofocus
            {...form.getInputProps('api_key')}
          />
          <FormButtons label="Replace" isBusy={isBusy} onCancel={onDone} />
        </Stack>
      </form>
    </Modal>
  )
}
