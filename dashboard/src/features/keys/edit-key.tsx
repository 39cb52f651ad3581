import { Modal } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import type { Schemas } from '../../api/client'
import { changedFields } from '../../components/changed-fields'
import { ResourceForm } from '../../components/resource-form'
import {
  KeyFields,
  toBodyFields,
  toExpiry,
  toKeyFields,
  validateKey,
  type KeyFormFields,
} from './key-fields'
import type { Key } from './queries'

export type KeyChanges = Schemas['ChangedKey']

/** The fields that differ from the key's; an expiry that the form does not show to the minute stays as it is. */
function toChanges(fields: KeyFormFields, before: KeyFormFields): KeyChanges {
  const isExpiryChanged = fields.life !== before.life || fields.day !== before.day
  return {
    ...changedFields<KeyChanges>(toBodyFields(fields), toBodyFields(before)),
    ...(isExpiryChanged && { expires_at: toExpiry(fields) }),
  }
}

interface Props {
  one: Key
  change: (changes: KeyChanges) => Promise<unknown>
  onClose: () => void
}

export function EditKey({ one, change, onClose }: Props) {
  const before = toKeyFields(one)
  const form = useForm<KeyFormFields>({ initialValues: before, validate: validateKey })
  const save = async (fields: KeyFormFields) => {
    const changes = toChanges(fields, before)
    if (Object.keys(changes).length > 0) await change(changes)
    notifications.show({ message: `${fields.name} was updated.` })
    onClose()
  }
  return (
    <Modal opened onClose={onClose} title={`Edit ${one.name}`}>
      <ResourceForm form={form} save={save} label="Save" onCancel={onClose}>
        <KeyFields form={form} />
      </ResourceForm>
    </Modal>
  )
}
