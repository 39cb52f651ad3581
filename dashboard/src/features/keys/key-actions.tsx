import { Menu } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { Confirm } from '../../components/confirm'
import { Problem } from '../../components/problem'
import { RowMenu } from '../../components/row-menu'
import { useSubmit } from '../../components/use-submit'
import { DisableKey } from './disable-key'
import { EditKey, type KeyChanges } from './edit-key'
import { isExpired } from './key-table'
import type { Key } from './queries'
import { RotateKey } from './rotate-key'

interface Props {
  one: Key
  change: (changes: KeyChanges) => Promise<unknown>
  remove: () => Promise<unknown>
  /** Gives the key a new secret, with an overlap in seconds; its owner alone may. */
  rotate?: ((overlapSeconds: number) => Promise<unknown>) | undefined
  /** Names the removal: `Delete`, or `Revoke` for another account's. */
  removal?: string
}

type Dialog = 'edit' | 'disable' | 'rotate' | 'end' | 'remove'

/** The actions of a key in its row, with their dialogs. */
export function KeyActions(props: Props) {
  const { one, change, rotate, removal = 'Delete' } = props
  const [dialog, setDialog] = useState<Dialog>()
  const { submit, isBusy, error } = useSubmit(async () => {
    await change({ disabled: false })
    notifications.show({ message: `${one.name} is enabled.` })
  })
  const isUsable = !isExpired(one)
  return (
    <>
      <RowMenu name={one.name} isBusy={isBusy}>
        <Menu.Item onClick={() => setDialog('edit')}>Edit</Menu.Item>
        {one.disabled && <Menu.Item onClick={() => void submit(undefined)}>Enable</Menu.Item>}
        {!one.disabled && isUsable && (
          <Menu.Item onClick={() => setDialog('disable')}>Disable</Menu.Item>
        )}
        {rotate && isUsable && <Menu.Item onClick={() => setDialog('rotate')}>Rotate</Menu.Item>}
        {one.previous_secrets.length > 0 && (
          <Menu.Item onClick={() => setDialog('end')}>End old secrets</Menu.Item>
        )}
        <Menu.Item color="red" onClick={() => setDialog('remove')}>
          {removal}
        </Menu.Item>
      </RowMenu>
      <Problem error={error} />
      {dialog && (
        <KeyDialog
          {...props}
          removal={removal}
          dialog={dialog}
          onClose={() => setDialog(undefined)}
        />
      )}
    </>
  )
}

interface DialogProps extends Props {
  removal: string
  dialog: Dialog
  onClose: () => void
}

function KeyDialog({ one, change, remove, rotate, removal, dialog, onClose }: DialogProps) {
  if (dialog === 'edit') return <EditKey one={one} change={change} onClose={onClose} />
  if (dialog === 'disable') return <DisableKey one={one} change={change} onClose={onClose} />
  if (dialog === 'rotate' && rotate) {
    return <RotateKey one={one} rotate={rotate} onClose={onClose} />
  }
  return dialog === 'end' ? (
    <Confirm
      question={`End the old secrets of ${one.name}?`}
      about="Requests with a secret from before the last rotation are rejected immediately."
      label="End old secrets"
      onConfirm={() => change({ previous_secrets: null })}
      onClose={onClose}
    />
  ) : (
    <Confirm
      question={`${removal} ${one.name}?`}
      about="Requests with this key are rejected immediately. This cannot be undone."
      label={removal}
      onConfirm={remove}
      onClose={onClose}
    />
  )
}
