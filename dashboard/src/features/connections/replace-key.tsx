import { Modal, PasswordInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client'
import { connectionsQuery } from './queries'
import { ResourceForm } from '../../components/resource-form'

interface Props {
  id: string
  name: string
  onClose: () => void
}

export function ReplaceKey({ id, name, onClose }: Props) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: { api_key: '' } })
  const save = async (fields: typeof form.values) => {
    await api.POST('/api/connections/{id}/update-key', { params: { path: { id } }, body: fields })
    await queries.invalidateQueries(connectionsQuery)
    notifications.show({ message: `The key of ${name} was replaced.` })
    onClose()
  }
  return (
    <Modal opened onClose={onClose} title={`Replace the key of ${name}`}>
      <ResourceForm form={form} save={save} label="Replace" onCancel={onClose}>
        <PasswordInput
          label="New API key"
          autoComplete="off"
          required
          data-autofocus
          {...form.getInputProps('api_key')}
        />
      </ResourceForm>
    </Modal>
  )
}
