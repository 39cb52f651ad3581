import { Alert, Button, Code, Group, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client'
import { collectionsQuery, ownOrganizationsQuery, type Collection, toMember } from './queries'
import { Confirm } from '../../components/confirm'
import { Copy } from '../../components/copy'
import { FavoriteModel } from '../models/favorite-model'
import { ResourceForm } from '../../components/resource-form'
import { StrategySelect } from './strategy-select'
import { favoritesQuery } from '../models/queries'
import { CollectionMembers } from './collection-members'
import { SidePanel } from '../../components/side-panel'

interface Props {
  /** Undefined when the collection does not exist. */
  collection: Collection | undefined
  onClose: () => void
}

export const CollectionDrawer = ({ collection, onClose }: Props) => (
  <SidePanel
    onClose={onClose}
    size="lg"
    title={collection ? (collection.display_name ?? collection.name) : 'Collection'}
  >
    {collection ? (
      <Editor collection={collection} onClose={onClose} />
    ) : (
      <Alert color="gray">This collection was deleted, or you do not have access to it.</Alert>
    )}
  </SidePanel>
)

/** Why the user may not change the collection; undefined when they may. */
function useHindrance({ scope, organization_id: id }: Collection): string | undefined {
  const { data: organizations } = useQuery(ownOrganizationsQuery)
  if (scope === 'system')
    return 'System collections are available to every account and managed by the operator.'
  if (scope === 'individual' || !organizations) return undefined
  const isRun = organizations.some((one) => one.id === id)
  return isRun ? undefined : 'Only owners and admins of the organization can edit this collection.'
}

const valuesOf = (collection: Collection) => ({
  name: collection.name,
  display_name: collection.display_name ?? '',
  description: collection.description ?? '',
  routing_strategy: collection.routing_strategy,
  enabled: collection.enabled,
  members: collection.members.map(toMember),
})

type Values = ReturnType<typeof valuesOf>

/** The changed fields, so that two users who edit different fields do not undo each other's changes. */
const changedFields = (fields: Values, before: Values) =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([name, value]) => !isSame(value, Reflect.get(before, name)))
      .map(([name, value]) => [name, value === '' ? null : value]),
  )

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

function Editor({ collection, onClose }: { collection: Collection; onClose: () => void }) {
  const queries = useQueryClient()
  const hindrance = useHindrance(collection)
  const { data: favorites = [] } = useQuery(favoritesQuery)
  const form = useForm({ initialValues: valuesOf(collection) })
  const param = { id: collection.id }
  const save = async (fields: Values) => {
    const changes = changedFields(fields, valuesOf(collection))
    const saved = await bodyOf(
      api.PUT('/api/user/model-collections/{id}', { params: { path: param }, body: changes }),
    )
    await queries.invalidateQueries(collectionsQuery)
    form.setInitialValues(valuesOf(saved))
    form.setValues(valuesOf(saved))
    notifications.show({ message: `${saved.model_id} was saved.` })
  }
  return (
    <Stack gap="md">
      <Group gap="xs">
        <Code>{collection.model_id}</Code>
        <Copy value={collection.model_id} label="Copy" />
        <FavoriteModel
          id={collection.model_id}
          isOn={favorites.some(({ model_id: id }) => id === collection.model_id)}
        />
      </Group>
      {hindrance === undefined ? (
        <ResourceForm
          form={form}
          save={save}
          label="Save"
          actions={<Delete collection={collection} onDeleted={onClose} />}
        >
          <Fields form={form} isReadOnly={false} />
        </ResourceForm>
      ) : (
        <>
          <Text size="sm">{hindrance}</Text>
          <Fields form={form} isReadOnly />
        </>
      )}
    </Stack>
  )
}

interface DeleteProps {
  collection: Collection
  onDeleted: () => void
}

function Delete({ collection: { id, model_id: name }, onDeleted }: DeleteProps) {
  const queries = useQueryClient()
  const [isConfirming, setConfirming] = useState(false)
  const remove = async () => {
    await api.DELETE('/api/user/model-collections/{id}', { params: { path: { id } } })
    onDeleted()
    await queries.invalidateQueries(collectionsQuery)
  }
  return (
    <>
      <Button variant="subtle" color="red" onClick={() => setConfirming(true)}>
        Delete
      </Button>
      {isConfirming && (
        <Confirm
          question={`Delete ${name}?`}
          about="Requests for this name are rejected from now on. The models stay."
          label="Delete"
          onConfirm={remove}
          onClose={() => setConfirming(false)}
        />
      )}
    </>
  )
}

interface FieldsProps {
  form: ReturnType<typeof useForm<Values>>
  isReadOnly: boolean
}

const Fields = ({ form, isReadOnly }: FieldsProps) => (
  <>
    {!isReadOnly && (
      <>
        <TextInput
          label="Name"
          description="Requests for the old name are rejected after a change."
          required
          maxLength={64}
          autoCapitalize="none"
          spellCheck={false}
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
      </>
    )}
    {isReadOnly && form.values.description !== '' && (
      <Text size="sm">{form.values.description}</Text>
    )}
    <StrategySelect
      value={form.values.routing_strategy}
      disabled={isReadOnly}
      onChange={(strategy) => form.setFieldValue('routing_strategy', strategy)}
    />
    <CollectionMembers
      members={form.values.members}
      isWeighted={form.values.routing_strategy === 'weighted'}
      isReadOnly={isReadOnly}
      onChange={(members) => form.setFieldValue('members', members)}
    />
  </>
)
