import { Menu, Modal, PasswordInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { ConnectionForm } from './connection-form'
import { api, bodyOf } from '../../../api/client'
import { Confirm } from '../../../components/confirm'
import { ResourceForm } from '../../../components/resource-form'
import { RowMenu } from '../../../components/row-menu'
import type { PlatformConnection } from './queries'
import { useRefresh } from '../refresh'

interface Props {
  connection: PlatformConnection
}

type Action = 'change' | 'key' | 'pause' | 'delete'

/** Runs an action without a confirmation and reports the result. */
function useDoing(name: string) {
  const [isBusy, setBusy] = useState(false)
  const run = async (work: () => Promise<{ message: string; success: boolean }>) => {
    setBusy(true)
    try {
      const { message, success } = await work()
      notifications.show({ title: name, message, color: success ? 'green' : 'red' })
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown)
      notifications.show({ title: name, message, color: 'red' })
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, run }
}

export function ConnectionActions({ connection }: Props) {
  const { id, name, status } = connection
  const param = { id }
  const refresh = useRefresh()
  const [dialog, setDialog] = useState<Action>()
  const { isBusy, run } = useDoing(name)
  const test = () =>
    run(async () => {
      const result = await bodyOf(
        api.POST('/api/admin/connections/{id}/test', { params: { path: param } }),
      )
      await refresh()
      return result
    })
  const setStatus = async (status: 'active' | 'inactive') => {
    await api.PUT('/api/admin/connections/{id}', {
      params: { path: param },
      body: { status },
    })
    await refresh()
  }
  const resume = () =>
    run(async () => {
      await setStatus('active')
      return { success: true, message: 'Connection enabled.' }
    })
  return (
    <>
      <RowMenu name={name} isBusy={isBusy}>
        <Menu.Item onClick={() => void test()}>Test</Menu.Item>
        {connection.source === 'stored' && (
          <ChangingItems status={status} onAction={setDialog} onResume={() => void resume()} />
        )}
      </RowMenu>
      <ActionDialog
        connection={connection}
        dialog={dialog}
        onPause={() => setStatus('inactive')}
        onClose={() => setDialog(undefined)}
      />
    </>
  )
}

interface ItemsProps {
  status: PlatformConnection['status']
  onAction: (deed: Action) => void
  onResume: () => void
}

const ChangingItems = ({ status, onAction, onResume }: ItemsProps) => (
  <>
    <Menu.Item onClick={() => onAction('change')}>Edit</Menu.Item>
    <Menu.Item onClick={() => onAction('key')}>Replace key</Menu.Item>
    {status === 'inactive' ? (
      <Menu.Item onClick={onResume}>Enable</Menu.Item>
    ) : (
      <Menu.Item onClick={() => onAction('pause')}>Disable</Menu.Item>
    )}
    <Menu.Item color="red" onClick={() => onAction('delete')}>
      Delete
    </Menu.Item>
  </>
)

interface DialogProps extends Props {
  dialog: Action | undefined
  onPause: () => Promise<void>
  onClose: () => void
}

/** The dialog of the selected action. */
function ActionDialog({ connection, dialog, onPause, onClose }: DialogProps) {
  const { id, name, provider } = connection
  const refresh = useRefresh()
  const remove = async () => {
    await api.DELETE('/api/admin/connections/{id}', { params: { path: { id } } })
    await refresh()
  }
  switch (dialog) {
    case 'change':
      return (
        <Modal opened onClose={onClose} title={`Edit ${name}`} size="lg">
          <ConnectionForm connection={connection} onClose={onClose} />
        </Modal>
      )
    case 'key':
      return <NewKey connection={connection} onClose={onClose} />
    case 'pause':
      return (
        <Confirm
          question={`Disable ${name}?`}
          about={`It receives no requests until it is enabled again. If it is the only connection to ${provider}, models of ${provider} become unavailable to accounts without their own connection.`}
          label="Disable"
          cancel="Cancel"
          onConfirm={onPause}
          onClose={onClose}
        />
      )
    case 'delete':
      return (
        <Confirm
          question={`Delete ${name}?`}
          about="Requests use the provider's other connections. The key cannot be restored."
          label="Delete"
          onConfirm={remove}
          onClose={onClose}
        />
      )
    default:
      return null
  }
}

function NewKey({ connection: { id, name }, onClose }: Props & { onClose: () => void }) {
  const refresh = useRefresh()
  const form = useForm({ initialValues: { api_key: '' } })
  const save = async (fields: typeof form.values) => {
    await api.POST('/api/admin/connections/{id}/update-key', {
      params: { path: { id } },
      body: fields,
    })
    await refresh()
    notifications.show({ message: `The key of ${name} was replaced.` })
    onClose()
  }
  return (
    <Modal opened onClose={onClose} title={`Replace the key of ${name}`}>
      <ResourceForm form={form} save={save} label="Replace" onCancel={onClose}>
        <PasswordInput
          label="New API key"
          description="Used from the next request. The old key is deleted here; revoke it at the provider as well."
          autoComplete="off"
          required
          data-autofocus
          {...form.getInputProps('api_key')}
        />
      </ResourceForm>
    </Modal>
  )
}
