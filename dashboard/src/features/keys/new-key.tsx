import { useForm } from '@mantine/form'
import type { Schemas } from '../../api/client'
import { toBody } from '../../components/changed-fields'
import { ResourceForm } from '../../components/resource-form'
import {
  KeyFields,
  newKeyFields,
  toBodyFields,
  toExpiry,
  validateKey,
  type KeyFormFields,
} from './key-fields'

export type NewKeyBody = Schemas['NewKey']

interface Secret {
  name: string
  key: string
}

interface Props {
  /** Creates a key with these fields. */
  create: (body: NewKeyBody) => Promise<Secret>
  /** Receives the secret of the new key. */
  onCreated: (created: Secret) => void
  onCancel: () => void
}

export function NewKey({ create, onCreated, onCancel }: Props) {
  const form = useForm<KeyFormFields>({ initialValues: newKeyFields, validate: validateKey })
  const save = async (fields: KeyFormFields) => {
    const expires_at = toExpiry(fields)
    const body = { ...toBodyFields(fields), ...(expires_at !== null && { expires_at }) }
    onCreated(await create(toBody<NewKeyBody>(body)))
  }
  return (
    <ResourceForm form={form} save={save} label="Create key" onCancel={onCancel}>
      <KeyFields form={form} />
    </ResourceForm>
  )
}
