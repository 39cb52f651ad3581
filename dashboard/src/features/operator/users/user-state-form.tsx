import { Button, Modal, Text, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { api } from '../../../api/client'
import { ResourceForm } from '../../../components/resource-form'
import { useRefresh } from '../refresh'
import type { User } from './queries'
import { useSubmit } from '../../../components/use-submit'

/** Suspends or reinstates an account. */
export const UserState = ({ user }: { user: User }) =>
  user.status === 'active' ? <Suspend user={user} /> : <Reinstate user={user} />

function Suspend({ user: { id, display_name: name } }: { user: User }) {
  const [isOpen, { open, close }] = useDisclosure()
  const refresh = useRefresh()
  const form = useForm({ initialValues: { reason: '' } })
  const save = async (fields: typeof form.values) => {
    await api.POST('/api/admin/users/{id}/suspend', { params: { path: { id } }, body: fields })
    await refresh()
    notifications.show({ message: `${name} was suspended.` })
    form.reset()
    close()
  }
  return (
    <>
      <Button color="red" variant="light" onClick={open}>
        Suspend
      </Button>
      <Modal opened={isOpen} onClose={close} title={`Suspend ${name}?`}>
        <ResourceForm form={form} save={save} label="Suspend" onCancel={close}>
          <Text size="sm">
            The account's keys and sessions stop working within a second. Its data stays and it can
            be reinstated.
          </Text>
          <Textarea
            label="Reason"
            description="Visible to operators only"
            required
            maxLength={500}
            autosize
            minRows={2}
            data-autofocus
            {...form.getInputProps('reason')}
          />
        </ResourceForm>
      </Modal>
    </>
  )
}

function Reinstate({ user: { id, display_name: name } }: { user: User }) {
  const refresh = useRefresh()
  const { submit, isBusy, error } = useSubmit(async () => {
    await api.POST('/api/admin/users/{id}/reinstate', { params: { path: { id } } })
    await refresh()
    notifications.show({ message: `${name} was reinstated.` })
  })
  return (
    <div>
      <Button loading={isBusy} onClick={() => void submit(undefined)}>
        Reinstate
      </Button>
      {error && (
        <Text size="sm" c="red" role="alert">
          {error.message}
        </Text>
      )}
    </div>
  )
}
