import { Menu, Modal, PasswordInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { ConnectionForm } from './connection-form'
import { admin, json } from '../../api'
import { Confirm } from '../../components/confirm'
import { FormFrame } from '../../components/form-frame'
import { RowMenu } from '../../components/row-menu'
import type { PlatformConnection } from '../../operator/connections'
import { useRefresh } from '../../operator/refresh'
import { useSubmit } from '../../submit'

const endpoint = admin.connections[':id']

interface Props {
  connection: PlatformConnection
}

type Deed = 'change' | 'key' | 'pause' | 'delete'

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
  const [asked, setAsked] = useState<Deed>()
  const { isBusy, run } = useDoing(name)
  const test = () =>
    run(async () => {
      const result = await (await endpoint.test.$post({ param })).json()
      await refresh()
      return result
    })
  const setStatus = async (wanted: 'active' | 'inactive') => {
    await endpoint.$put({ param }, json({ status: wanted }))
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
          <ChangingItems status={status} onAsk={setAsked} onResume={() => void resume()} />
        )}
      </RowMenu>
      <Asked
        connection={connection}
        asked={asked}
        onPause={() => setStatus('inactive')}
        onDone={() => setAsked(undefined)}
      />
    </>
  )
}

interface ItemsProps {
  status: PlatformConnection['status']
  onAsk: (deed: Deed) => void
  onResume: () => void
}

const ChangingItems = ({ status, onAsk, onResume }: ItemsProps) => (
  <>
    <Menu.Item onClick={() => onAsk('change')}>Edit</Menu.Item>
    <Menu.Item onClick={() => onAsk('key')}>Replace key</Menu.Item>
    {status === 'inactive' ? (
      <Menu.Item onClick={onResume}>Enable</Menu.Item>
    ) : (
      <Menu.Item onClick={() => onAsk('pause')}>Disable</Menu.Item>
    )}
    <Menu.Item color="red" onClick={() => onAsk('delete')}>
      Delete
    </Menu.Item>
  </>
)

interface AskedProps extends Props {
  asked: Deed | undefined
  onPause: () => Promise<void>
  onDone: () => void
}

/** The dialog of the selected action. */
function Asked({ connection, asked, onPause, onDone }: AskedProps) {
  const { id, name, provider } = connection
  const refresh = useRefresh()
  const remove = async () => {
    await endpoint.$delete({ param: { id } })
    await refresh()
  }
  const save = async (fields: object) => {
    await endpoint.$put({ param: { id } }, json(fields))
  }
  switch (asked) {
    case 'change':
      return (
        <Modal opened onClose={onDone} title={`Edit ${name}`} size="lg">
          <ConnectionForm connection={connection} save={save} onClose={onDone} />
        </Modal>
      )
    case 'key':
      return <NewKey connection={connection} onDone={onDone} />
    case 'pause':
      return (
        <Confirm
          question={`Disable ${name}?`}
          about={`It receives no requests until it is enabled again. If it is the only connection to ${provider}, models of ${provider} become unavailable to accounts without their own connection.`}
          label="Disable"
          cancel="Cancel"
          onConfirm={onPause}
          onClose={onDone}
        />
      )
    case 'delete':
      return (
        <Confirm
          question={`Delete ${name}?`}
          about="Requests use the provider's other connections. The key cannot be restored."
          label="Delete"
          onConfirm={remove}
          onClose={onDone}
        />
      )
    default:
      return null
  }
}

function NewKey({ connection: { id, name }, onDone }: Props & { onDone: () => void }) {
  const refresh = useRefresh()
  const form = useForm({ initialValues: { api_key: '' } })
  const submission = useSubmit(async (fields: typeof form.values) => {
    await endpoint['update-key'].$post({ param: { id } }, json(fields))
    await refresh()
    notifications.show({ message: `The key of ${name} was replaced.` })
    onDone()
  }, form)
  return (
    <Modal opened onClose={onDone} title={`Replace the key of ${name}`}>
      <FormFrame form={form} submission={submission} label="Replace" onCancel={onDone}>
        <PasswordInput
          label="New API key"
          description="Used from the next request. The old key is deleted here; revoke it at the provider as well."
          autoComplete="off"
          required
          data-autofocus
          {...form.getInputProps('api_key')}
        />
      </FormFrame>
    </Modal>
  )
}
