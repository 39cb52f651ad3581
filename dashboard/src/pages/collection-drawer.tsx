import {
  Alert,
  Button,
  Code,
  Drawer,
  Group,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, json } from '../api'
import {
  collectionsQuery,
  ownOrganizationsQuery,
  type Collection,
  type Member,
} from '../collections'
import { Confirm } from '../components/confirm'
import { Copy } from '../components/copy'
import { FavoriteModel } from '../components/favorite-model'
import { Problem } from '../components/problem'
import { StrategySelect } from '../components/strategy-select'
import { favoritesQuery } from '../models'
import { useSubmit } from '../submit'
import { CollectionMembers } from './collection-members'

const endpoint = api.user['model-collections'][':id']

interface Props {
  /** Undefined when the collection does not exist. */
  collection: Collection | undefined
  onClose: () => void
}

export const CollectionDrawer = ({ collection, onClose }: Props) => (
  <Drawer
    opened
    onClose={onClose}
    position="right"
    size="lg"
    title={collection ? (collection.display_name ?? collection.name) : 'Collection'}
  >
    {collection ? (
      <Editor collection={collection} onClose={onClose} />
    ) : (
      <Alert color="gray">This collection was deleted, or you do not have access to it.</Alert>
    )}
  </Drawer>
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

const asMember = ({ model_id, priority, weight, enabled }: Member): Member => ({
  model_id,
  priority,
  weight,
  enabled,
})

const valuesOf = (collection: Collection) => ({
  name: collection.name,
  display_name: collection.display_name ?? '',
  description: collection.description ?? '',
  routing_strategy: collection.routing_strategy,
  enabled: collection.enabled,
  members: collection.members.map(asMember),
})

type Values = ReturnType<typeof valuesOf>

/** The changed fields, so that two users who edit different fields do not undo each other's changes. */
const changesOf = (fields: Values, before: Values) =>
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
  const isReadOnly = hindrance !== undefined
  const [isDoomed, setDoomed] = useState(false)
  const form = useForm({ initialValues: valuesOf(collection) })
  const param = { id: collection.id }
  const { submit, isBusy, error } = useSubmit(async (fields: Values) => {
    const changes = changesOf(fields, valuesOf(collection))
    const saved = await (await endpoint.$put({ param }, json(changes))).json()
    await queries.invalidateQueries(collectionsQuery)
    form.setInitialValues(valuesOf(saved))
    form.setValues(valuesOf(saved))
    notifications.show({ message: `${saved.model_id} was saved.` })
  }, form)
  const remove = async () => {
    await endpoint.$delete({ param })
    onClose()
    await queries.invalidateQueries(collectionsQuery)
  }
  return (
    <form onSubmit={form.onSubmit((fields) => void submit(fields))}>
      <Stack gap="md">
        <Group gap="xs">
          <Code>{collection.model_id}</Code>
          <Copy value={collection.model_id} label="Copy" />
          <FavoriteModel
            id={collection.model_id}
            isOn={favorites.some(({ model_id: id }) => id === collection.model_id)}
          />
        </Group>
        {hindrance && <Text size="sm">{hindrance}</Text>}
        <Problem error={error} />
        <Fields form={form} isReadOnly={isReadOnly} />
        {!isReadOnly && (
          <Group justify="space-between">
            <Button variant="subtle" color="red" onClick={() => setDoomed(true)}>
              Delete
            </Button>
            <Button type="submit" loading={isBusy} disabled={!form.isDirty()}>
              Save
            </Button>
          </Group>
        )}
      </Stack>
      {isDoomed && (
        <Confirm
          question={`Delete ${collection.model_id}?`}
          about="Requests for this name are rejected from now on. The models stay."
          label="Delete"
          onConfirm={remove}
          onClose={() => setDoomed(false)}
        />
      )}
    </form>
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
