import { Switch, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { CollectionMembers } from '../collection-members'
import { changesOf } from '../../changes'
import type { Member } from '../../collections'
import { FormFrame } from '../../components/form-frame'
import { StrategySelect } from '../../components/strategy-select'
import type { SystemCollection } from '../../operator/collections'
import { useRefresh } from '../../operator/refresh'
import { useSubmit } from '../../submit'

const asMember = ({ model_id, priority, weight, enabled }: Member): Member => ({
  model_id,
  priority,
  weight,
  enabled,
})

const fieldsOf = (collection: SystemCollection | undefined) => ({
  name: collection?.name ?? '',
  display_name: collection?.display_name ?? '',
  description: collection?.description ?? '',
  routing_strategy: collection?.routing_strategy ?? ('priority' as const),
  enabled: collection?.enabled ?? true,
  members: collection?.members.map(asMember) ?? [],
})

type Fields = ReturnType<typeof fieldsOf>

interface Props {
  /** The collection to edit; undefined for a new one. */
  collection?: SystemCollection
  save: (fields: object) => Promise<void>
  onClose: () => void
}

export function CollectionForm({ collection, save, onClose }: Props) {
  const refresh = useRefresh()
  const before = fieldsOf(collection)
  const form = useForm<Fields>({ initialValues: before })
  const submission = useSubmit(async (fields: Fields) => {
    await save(changesOf(fields, collection ? before : {}))
    await refresh()
    notifications.show({ message: `collection/${fields.name} was saved.` })
    onClose()
  }, form)
  const { members, routing_strategy: strategy } = form.values
  return (
    <FormFrame
      form={form}
      submission={submission}
      label={collection ? 'Save' : 'Create'}
      onCancel={onClose}
    >
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
        onChange={(wanted) => form.setFieldValue('routing_strategy', wanted)}
      />
      <CollectionMembers
        members={members}
        isWeighted={strategy === 'weighted'}
        isReadOnly={false}
        onChange={(changed) => form.setFieldValue('members', changed)}
      />
    </FormFrame>
  )
}
