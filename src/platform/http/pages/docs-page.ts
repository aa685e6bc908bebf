/** The description of all operations as one page: no script, nothing loaded from elsewhere, readable offline. */

import type { JsonSchema } from '../input/problem-texts.ts'
import { type Html, html, htmlPage } from './html.ts'
import type { OpenApiDocument, OpenApiOperation } from './openapi.ts'

interface Entry {
  method: string
  path: string
  operation: OpenApiOperation
}

export function docsPage(document: OpenApiDocument): string {
  const groups = document.tags
    .map((tag) => ({ ...tag, entries: entriesOf(document, tag.name) }))
    .filter(({ entries }) => entries.length > 0)
  return htmlPage(
    `${document.info.title} – interface`,
    html`<header><h1>${document.info.title}: the interface</h1>
<p>${document.info.description} Version ${document.info.version}. <a href="/openapi.json">OpenAPI 3.1 document</a></p>
<p class="soft">Send <code>Authorization: Bearer TOKEN</code>, or <code>X-Api-Key</code> with <code>X-Application-Key</code>.
In <code>dev</code> mode requests from this machine need neither.</p></header>
<nav aria-label="Surfaces"><ul>${groups.map(({ name, entries }) => html`<li><a href="#${name}">${name}</a> (${entries.length})</li>`)}</ul></nav>
<main id="content">${groups.map(
      ({ name, description, entries }) =>
        html`<section aria-labelledby="${name}"><h2 id="${name}">${name}</h2><p>${description}</p>${entries.map(entrySection)}</section>`,
    )}</main>`,
  )
}

function entriesOf(document: OpenApiDocument, tag: string): Entry[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags[0] === tag)
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

function entrySection(entry: Entry): Html {
  const { method, path, operation } = entry
  const body = operation.requestBody?.content['application/json']?.schema
  return html`<details id="${operation.operationId}"><summary><h3><code>${method} ${path}</code></h3> ${operation.summary}${operation.deprecated && ' (deprecated)'}</summary>
${operation.description && html`<p>${operation.description}</p>`}
<p><strong>Access:</strong> ${operation['x-access']}${operation['x-rate-limits'] && html` · <strong>Rate limits:</strong> ${operation['x-rate-limits'].join(', ')}`} · <span class="soft">${operation.operationId}</span></p>
${operation.parameters.length > 0 && parameterTable(operation)}
${body && html`<h4>Body</h4>${schemaBlock(body)}`}
<h4>Responses</h4>${responseTable(operation)}
<h4>Example</h4><pre tabindex="0">${curl(entry)}</pre></details>`
}

function parameterTable({ parameters }: OpenApiOperation): Html {
  return html`<h4>Parameters</h4><table><thead><tr><th scope="col">Name</th><th scope="col">In</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>${parameters.map(
    ({ name, in: place, required, schema, description }) =>
      html`<tr><th scope="row"><code>${name}</code></th><td>${place}${required && ', required'}</td><td>${typeText(schema)}</td><td>${description}</td></tr>`,
  )}</tbody></table>`
}

function responseTable({ responses }: OpenApiOperation): Html {
  const rows = Object.entries(responses).map(([status, response]) => {
    const label = status === 'default' ? 'any other' : status
    if ('$ref' in response) return html`<tr><th scope="row">${label}</th><td>the surface's error body</td></tr>`
    const [type, content] = Object.entries(response.content ?? {})[0] ?? []
    return html`<tr><th scope="row">${label}</th><td>${response.description}${type && html` <span class="soft">${type}</span>`}${content?.schema && schemaBlock(content.schema)}</td></tr>`
  })
  return html`<table><thead><tr><th scope="col">Status</th><th scope="col">Answer</th></tr></thead><tbody>${rows}</tbody></table>`
}

function schemaBlock(schema: JsonSchema): Html {
  return html`<pre tabindex="0">${JSON.stringify(sample(schema, 0), null, 2)}</pre>`
}

/** The shape as JSON, with types in the place of values. */
function sample(schema: JsonSchema, depth: number): unknown {
  if (depth > 8) return '…'
  if (schema.type === 'object' && schema.properties) {
    const required = (schema.required ?? []) as string[]
    const members = Object.entries(schema.properties as Record<string, JsonSchema>)
    return Object.fromEntries(
      members.map(([name, one]) => [required.includes(name) ? name : `${name}?`, sample(one, depth + 1)]),
    )
  }
  if (schema.type === 'array') return [sample((schema.items ?? {}) as JsonSchema, depth + 1)]
  return typeText(schema)
}

function typeText(schema: JsonSchema): string {
  if (typeof schema.$ref === 'string') return schema.$ref.split('/').at(-1) as string
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.anyOf) return schema.anyOf.map(typeText).join(' | ')
  const range =
    schema.minimum !== undefined || schema.maximum !== undefined
      ? ` ${schema.minimum ?? ''}…${schema.maximum ?? ''}`
      : ''
  const standard = schema.default === undefined ? '' : `, default ${JSON.stringify(schema.default)}`
  return `${schema.format ?? schema.type ?? 'any'}${range}${standard}`
}

function curl({ method, path, operation }: Entry): string {
  const lines = [`curl${method === 'GET' ? '' : ` -X ${method}`} "http://localhost:4040${path}"`]
  if (operation['x-access'] !== 'public') lines.push('-H "Authorization: Bearer $TOKEN"')
  const [type] = Object.keys(operation.requestBody?.content ?? {})
  if (type === 'application/json') lines.push(`-H "Content-Type: ${type}"`, "-d '{…}'")
  else if (type !== undefined) lines.push(`-H "Content-Type: ${type}"`, '--data-binary @FILE')
  return lines.join(' \\\n  ')
}
