import { Select, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { endpointsOf, kindChoices, type AuditDestination } from './queries'
import type { Schemas } from '../../api/client'
import { ResourceForm } from '../../components/resource-form'

interface Fields {
  name: string
  kind: AuditDestination['kind']
  url: string
}

const newDestination: Fields = { name: '', kind: 'webhook', url: '' }

const hints = {
  webhook: 'Receives each entry as signed JSON, as Standard Webhooks defines it',
  syslog: 'Receives each entry as a message of RFC 5424, over TLS',
} as const
const placeholders = { webhook: 'https://', syslog: 'tls://siem.example.com:6514' } as const

interface Props {
  organizationId: string | undefined
  /** Receives the new destination, with its secret if it has one. */
  onCreated: (created: Schemas['AuditDestinationWithKey']) => void
  onCancel: () => void
}

/** Creates a destination of an audit log. */
export function NewAuditDestination({ organizationId, onCreated, onCancel }: Props) {
  const form = useForm<Fields>({ initialValues: newDestination })
  const { kind } = form.values
  return (
    <ResourceForm
      form={form}
      save={async (body) => onCreated(await endpointsOf(organizationId).create(body))}
      label="Create"
      onCancel={onCancel}
    >
      <TextInput
        label="Name"
        required
        maxLength={100}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <Select
        label="Kind"
        allowDeselect={false}
        data={kindChoices}
        {...form.getInputProps('kind')}
      />
      <TextInput
        label="Address"
        description={hints[kind]}
        placeholder={placeholders[kind]}
        required
        maxLength={1000}
        autoComplete="off"
        {...form.getInputProps('url')}
      />
    </ResourceForm>
  )
}
