import { Switch, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { CollectionMembers } from '../../collections/collection-members'
import { api, type Schemas } from '../../../api/client'
import { changedFields, toBody } from '../../../components/changed-fields'
import { toMember } from '../../collections/queries'
import { ResourceForm } from '../../../components/resource-form'
import { StrategySelect } from '../../collections/strategy-select'
import type { SystemCollection } from './queries'
import { useRefresh } from '../refresh'

const fieldsOf = (collection: SystemCollection | undefined) => ({
  name: collection?.name ?? '',
  display_name: collection?.display_name ?? '',
  description: collection?.description ?? '',
  routing_strategy: collection?.routing_strategy ?? ('priority' as const),
  enabled: collection?.enabled ?? true,
  members: collection?.members.map(toMember) ?? [],
})

type Fields = ReturnType<typeof fieldsOf>

interface Props {
  /** The collection to edit; undefined for a new one. */
  collection?: SystemCollection
  onClose: () => void
}

export function CollectionForm({ collection, onClose }: Props) {
  const refresh = useRefresh()
  const before = fieldsOf(collection)
  const form = useForm<Fields>({ initialValues: before })
  const save = async (fields: Fields) => {
    await (collection
      ? api.PUT('/api/admin/collections/{id}', {
          params: { path: { id: collection.id } },
          body: changedFields<Schemas['ChangedCollection']>(fields, before),
        })
      : api.POST('/api/admin/collections', {
          body: toBody<Schemas['NewSystemCollection']>(fields),
        }))
    await refresh()
    notifications.show({ message: `collection/${fields.name} was saved.` })
    onClose()
  }
  const { members, routing_strategy: strategy } = form.values
  return (
    <ResourceForm form={form} save={save} label={collection ? 'Save' : 'Create'} onCancel={onClose}>
      <TextInput
        label="Name"
        description={`Called as collection/${form.values.name || 'name'}`}
        required
        maxLength={64}
        autoCapitalize="none"
        spellCheck={false}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <TextInput label="Title" maxLength={100} {...form.getInputProps('display_name')} />
      <Textarea
        label="Description"
        autosize
        minRows={2}
        maxLength={1000}
        {...form.getInputProps('description')}
      />
      <Switch label="Enabled" {...form.getInputProps('enabled', { type: 'checkbox' })} />
      <StrategySelect
        value={strategy}
        onChange={(strategy) => form.setFieldValue('routing_strategy', strategy)}
      />
      <CollectionMembers
        members={members}
        isWeighted={strategy === 'weighted'}
        isReadOnly={false}
        onChange={(changed) => form.setFieldValue('members', changed)}
      />
    </ResourceForm>
  )
}
