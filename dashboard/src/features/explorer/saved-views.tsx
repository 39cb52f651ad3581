import { Button, Group, Modal, Select, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client'
import { Confirm } from '../../components/confirm'
import { ResourceForm } from '../../components/resource-form'
import type { ExplorerSearch } from '../../url/explorer'
import {
  findView,
  listViewDays,
  toViewParameters,
  toViewSearch,
  viewsQuery,
  type SavedView,
} from './views'

interface Props {
  search: ExplorerSearch
  onSearch: (changed: ExplorerSearch) => void
}

/** Opens, saves and deletes views of usage. */
export function SavedViews({ search, onSearch }: Props) {
  const { organization } = search
  const { data: views = [] } = useQuery(viewsQuery(organization))
  const [dialog, setDialog] = useState<'save' | 'delete'>()
  const close = () => setDialog(undefined)
  const open = findView(views, search, Date.now())
  return (
    <Group gap="xs" align="end">
      {views.length > 0 && (
        <Select
          label="Saved view"
          placeholder="Open a view"
          data={views.map(({ id, name }) => ({ value: id, label: name }))}
          value={open?.id ?? null}
          onChange={(id) => {
            const view = views.find((one) => one.id === id)
            if (view) onSearch(toViewSearch(view.parameters, Date.now()))
          }}
        />
      )}
      {open ? (
        <Button variant="default" onClick={() => setDialog('delete')}>
          Delete view
        </Button>
      ) : (
        <Button variant="default" onClick={() => setDialog('save')}>
          Save view
        </Button>
      )}
      {dialog === 'save' && <SaveView search={search} onClose={close} />}
      {dialog === 'delete' && open && <DeleteView view={open} onClose={close} />}
    </Group>
  )
}

function SaveView({ search, onClose }: { search: ExplorerSearch; onClose: () => void }) {
  const { organization } = search
  const queries = useQueryClient()
  const choices = listViewDays(search, Date.now())
  const form = useForm({ initialValues: { name: '', days: choices[0]?.label ?? '' } })
  const save = async ({ name, days }: typeof form.values) => {
    const chosen = choices.find(({ label }) => label === days) ?? {}
    const parameters = toViewParameters(search, chosen, { nowMs: Date.now() })
    const body = { name, parameters, organization_id: organization }
    await bodyOf(api.POST('/api/billing/views', { body }))
    await queries.invalidateQueries(viewsQuery(organization))
    onClose()
  }
  return (
    <Modal opened onClose={onClose} title="Save view">
      <ResourceForm form={form} save={save} label="Save" onCancel={onClose}>
        <TextInput
          label="Name"
          description={
            organization !== undefined &&
            'The owner and the admins of the organization see this view'
          }
          required
          maxLength={100}
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Select
          label="Days"
          description="“This month” and the like follow the calendar"
          allowDeselect={false}
          data={choices.map(({ label }) => label)}
          {...form.getInputProps('days')}
        />
      </ResourceForm>
    </Modal>
  )
}

function DeleteView({ view, onClose }: { view: SavedView; onClose: () => void }) {
  const queries = useQueryClient()
  return (
    <Confirm
      question="Delete this view?"
      about={
        view.organization_id === null
          ? `“${view.name}” is deleted. Your usage stays.`
          : `“${view.name}” is deleted for all who manage the organization. Its usage stays.`
      }
      label="Delete"
      onConfirm={async () => {
        const params = { path: { view_id: view.id } }
        await bodyOf(api.DELETE('/api/billing/views/{view_id}', { params }))
        await queries.invalidateQueries(viewsQuery(view.organization_id ?? undefined))
      }}
      onClose={onClose}
    />
  )
}
