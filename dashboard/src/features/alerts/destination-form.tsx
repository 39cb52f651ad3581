import {
  Checkbox,
  Group,
  Select,
  TextInput,
  type CheckboxGroupProps,
  type TextInputProps,
} from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { endpointsOf } from './destination-endpoints'
import { eventNames, eventsOf, kindChoices, type Destination } from './destination-queries'
import type { Schemas } from '../../api/client'
import { changedFields } from '../../components/changed-fields'
import { ResourceForm } from '../../components/resource-form'

type CreatedDestination = Schemas['NotificationDestinationWithKey']

interface Fields {
  name: string
  kind: Destination['kind']
  url: string
  routing_key: string
  events: Destination['events']
}

const newDestination: Omit<Fields, 'events'> = {
  name: '',
  kind: 'webhook',
  url: '',
  routing_key: '',
}

const hints: Readonly<Record<Exclude<Destination['kind'], 'pagerduty'>, string>> = {
  webhook: 'Receives signed JSON, as Standard Webhooks defines it',
  slack: 'The URL of an incoming webhook of Slack',
  teams: 'The URL of a workflow “When a Teams webhook request is received”',
}

const validate = {
  events: (chosen: Destination['events']) => (chosen.length === 0 ? 'Select an event.' : null),
}

interface Props {
  organizationId: string | undefined
  /** Receives the new destination, with its secret if it has one. */
  onCreated: (created: CreatedDestination) => void
  onCancel: () => void
}

/** Creates a destination of notifications. */
export function DestinationForm({ organizationId, onCreated, onCancel }: Props) {
  const form = useForm<Fields>({
    initialValues: { ...newDestination, events: [...eventsOf(organizationId)] },
    validate,
  })
  const { kind } = form.values
  const save = async ({ url, routing_key, ...fields }: Fields) => {
    const address = fields.kind === 'pagerduty' ? { routing_key } : { url }
    const body = { ...fields, ...address }
    onCreated(await endpointsOf(organizationId).create(body))
  }
  return (
    <ResourceForm form={form} save={save} label="Create" onCancel={onCancel}>
      <NameInput {...form.getInputProps('name')} />
      <Select
        label="Kind"
        allowDeselect={false}
        data={kindChoices}
        {...form.getInputProps('kind')}
      />
      {kind === 'pagerduty' ? (
        <KeyInput required {...form.getInputProps('routing_key')} />
      ) : (
        <UrlInput
          description={hints[kind]}
          placeholder="https://"
          required
          {...form.getInputProps('url')}
        />
      )}
      <EventInputs events={eventsOf(organizationId)} {...form.getInputProps('events')} />
    </ResourceForm>
  )
}

interface EditedFields extends Omit<Fields, 'kind'> {
  enabled: boolean
}

interface EditProps {
  destination: Destination
  organizationId: string | undefined
  onClose: () => void
}

/** Edits a destination. Its address and its key are not shown, and stay unless others are entered. */
export function EditDestinationForm({ destination, organizationId, onClose }: EditProps) {
  const queries = useQueryClient()
  const { id, kind, url } = destination
  // What changes meanwhile, such as a destination that Tollgate disables, is no change by this form.
  const [before] = useState<EditedFields>(() => {
    const { name, events: chosen, enabled } = destination
    return { name, events: chosen, enabled, url: '', routing_key: '' }
  })
  const form = useForm<EditedFields>({ initialValues: before, validate })
  const save = async (fields: EditedFields) => {
    const body = changedFields<Schemas['ChangedNotificationDestination']>(fields, before)
    if (Object.keys(body).length > 0) {
      await endpointsOf(organizationId).change(id, body)
      await queries.invalidateQueries({ queryKey: ['destinations'] })
    }
    onClose()
  }
  return (
    <ResourceForm form={form} save={save} label="Save" onCancel={onClose}>
      <NameInput {...form.getInputProps('name')} />
      <UrlInput
        label="New URL"
        description={`Empty keeps the URL at ${url}`}
        {...form.getInputProps('url')}
      />
      {kind === 'pagerduty' && <RoutingKey form={form} />}
      <EventInputs events={eventsOf(organizationId)} {...form.getInputProps('events')} />
      <Checkbox label="Enabled" {...form.getInputProps('enabled', { type: 'checkbox' })} />
    </ResourceForm>
  )
}

/** A new address does not get the stored key. */
const RoutingKey = ({ form }: { form: UseFormReturnType<EditedFields> }) => (
  <KeyInput
    label="New integration key"
    description="Empty keeps the key; a new URL needs it"
    required={form.values.url !== ''}
    {...form.getInputProps('routing_key')}
  />
)

const NameInput = (props: TextInputProps) => (
  <TextInput label="Name" required maxLength={100} data-autofocus {...props} />
)

const KeyInput = (props: TextInputProps) => (
  <TextInput
    label="Integration key"
    description="Of an integration “Events API v2” of your service"
    autoComplete="off"
    spellCheck={false}
    {...props}
  />
)

const UrlInput = (props: TextInputProps) => (
  <TextInput label="URL" type="url" maxLength={1000} autoComplete="off" {...props} />
)

interface EventProps extends Omit<CheckboxGroupProps, 'children'> {
  events: readonly Destination['events'][number][]
}

const EventInputs = ({ events, ...props }: EventProps) => (
  <Checkbox.Group label="Events" {...props}>
    <Group mt="xs">
      {events.map((event) => (
        <Checkbox key={event} value={event} label={eventNames[event]} />
      ))}
    </Group>
  </Checkbox.Group>
)
