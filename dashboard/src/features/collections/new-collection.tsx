import { Select, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client'
import { collectionsQuery, ownOrganizationsQuery, type Strategy } from './queries'
import { ResourceForm } from '../../components/resource-form'
import { StrategySelect } from './strategy-select'

const mine = 'mine'

const initialValues: {
  name: string
  display_name: string
  description: string
  routing_strategy: Strategy
  organization_id: string
} = {
  name: '',
  display_name: '',
  description: '',
  routing_strategy: 'priority',
  organization_id: mine,
}

const toBody = ({ organization_id: owner, ...fields }: typeof initialValues) => ({
  ...fields,
  display_name: fields.display_name || null,
  description: fields.description || null,
  ...(owner !== mine && { scope: 'organization' as const, organization_id: owner }),
})

interface Props {
  /** Receives the id of the new collection. */
  onCreated: (id: string) => void
  onCancel: () => void
}

export function NewCollection({ onCreated, onCancel }: Props) {
  const queries = useQueryClient()
  const { data: organizations = [] } = useQuery(ownOrganizationsQuery)
  const form = useForm({ initialValues })
  const save = async (fields: typeof initialValues) => {
    const body = toBody(fields)
    const { id } = await bodyOf(api.POST('/api/user/model-collections', { body }))
    await queries.invalidateQueries(collectionsQuery)
    onCreated(id)
  }
  return (
    <ResourceForm form={form} save={save} label="Create" onCancel={onCancel}>
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
      <StrategySelect
        value={form.values.routing_strategy}
        onChange={(strategy) => form.setFieldValue('routing_strategy', strategy)}
      />
      {organizations.length > 0 && (
        <Select
          label="Owner"
          description="All members of an organization may use its collections."
          allowDeselect={false}
          data={[
            { value: mine, label: 'Personal' },
            ...organizations.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          {...form.getInputProps('organization_id')}
        />
      )}
    </ResourceForm>
  )
}
