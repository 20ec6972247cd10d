"""One method for each operation of the API.

Generated from the OpenAPI document. Do not edit; change generate.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote as _quote

from ._transport import Body, Response, Transport
from .types import (
    AnswerListenerBodyItem,
    AuditEntry,
    BeginApplyBody,
    BeginApplyResponse,
    ChangeConnectionBody,
    ChangeDataFeedBody,
    ChangeSQLViewBody,
    ChangeSubscriptionBody,
    ChangeVersionBody,
    ChangeWorkspaceBody,
    Chart,
    Check,
    Checks,
    CloudEvent,
    ColumnChange,
    CompareDefinitionsBody,
    CompareDefinitionsResponseItem,
    Connection,
    CreateKeyBody,
    CreateKeyResponse,
    CreateLinkBody,
    CreateListenerBody,
    CreateListenerResponse,
    CreatePortalLinkBody,
    CreateSQLViewBody,
    CreateSessionBody,
    CreateSubscriptionBody,
    CreateSubscriptionPartial,
    CreateWorkspaceBody,
    CreationUrlResponse,
    DataFeed,
    DataLink,
    Definition,
    Delivery,
    FeedProfile,
    FeedVersion,
    GetDeliveryResponse,
    GetEventResponse,
    Health,
    Key,
    Lineage,
    ListEventTypesItem,
    ListEventsItem,
    ListFieldsItem,
    ListServicesItem,
    ListViewsItem,
    Listener,
    Me,
    MoveSessionBody,
    NewConnection1,
    NewConnection2,
    NewConnection3,
    NewConnection4,
    NewEvent,
    NewSubscription,
    Operate,
    PortalLink,
    PreviewDataFeedResponse,
    PreviewQueryResponse,
    PreviewSubscriptionBody,
    PreviewSubscriptionResponse,
    ProblemType,
    PublishEventsResponse,
    QueryFeed,
    ReadSubscription,
    Refresh,
    Reject,
    Replay,
    ReplaySubscriptionBody,
    RetriedDeliveries,
    RetrySubscriptionResponse,
    RetryUndeliveredBody1,
    RetryUndeliveredBody2,
    RotateSecretBody,
    RotateSecretResponse,
    RowQuery,
    SQLView,
    SetDefinitionBody,
    Subscription,
    SubscriptionStats,
    TestConnectionResponse,
    TestListenerBody,
    TestSubscriptionBody,
    TestSubscriptionResponse,
    UndeliveredGroup,
    WholeRefresh,
    Workspace,
)


class Operations(Transport):
    """The operations of the API. `Client` adds typed rows."""

    def answer_listener(
        self,
        id: str,
        body: list[AnswerListenerBodyItem],
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Respond to deliveries: ``POST /events/listeners/{id}/answers``."""
        self._none("POST", f"/events/listeners/{_quote(id, safe='')}/answers", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def begin_apply(
        self,
        body: BeginApplyBody,
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> BeginApplyResponse:
        """Begin an apply: ``POST /definitions/apply``."""
        return self._data("POST", "/definitions/apply", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def cancel_refresh(
        self,
        id: str,
        rid: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Refresh:
        """Cancel a refresh: ``DELETE /data_feeds/{id}/refreshes/{rid}``."""
        return self._data("DELETE", f"/data_feeds/{_quote(id, safe='')}/refreshes/{_quote(rid, safe='')}", {}, headers=headers)

    def cancel_replay(
        self,
        id: str,
        rid: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Replay:
        """Cancel a replay: ``DELETE /events/subscriptions/{id}/replays/{rid}``."""
        return self._data("DELETE", f"/events/subscriptions/{_quote(id, safe='')}/replays/{_quote(rid, safe='')}", {}, headers=headers)

    def change_columns(
        self,
        id: str,
        body: list[ColumnChange],
        *,
        dry_run: bool | None = None,
        content_type: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> DataFeed:
        """Change columns: ``PATCH /data_feeds/{id}/columns``."""
        return self._data("PATCH", f"/data_feeds/{_quote(id, safe='')}/columns", {"dryRun": dry_run}, body=body, content_type=content_type, headers=headers)

    def change_connection(
        self,
        id: str,
        body: ChangeConnectionBody,
        *,
        content_type: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Connection:
        """Change a connection: ``PATCH /connections/{id}``."""
        return self._data("PATCH", f"/connections/{_quote(id, safe='')}", {}, body=body, content_type=content_type, headers=headers)

    def change_data_feed(
        self,
        id: str,
        body: ChangeDataFeedBody | str,
        *,
        content_type: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> DataFeed:
        """Change a feed: ``PATCH /data_feeds/{id}``."""
        return self._data("PATCH", f"/data_feeds/{_quote(id, safe='')}", {}, body=body, content_type=content_type, headers=headers)

    def change_sql_view(
        self,
        id: str,
        name: str,
        body: ChangeSQLViewBody,
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> SQLView:
        """Change the SQL of a view: ``PUT /connections/{id}/views/{name}``."""
        return self._data("PUT", f"/connections/{_quote(id, safe='')}/views/{_quote(name, safe='')}", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def change_subscription(
        self,
        id: str,
        body: ChangeSubscriptionBody,
        *,
        content_type: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Subscription:
        """Change a subscription: ``PATCH /events/subscriptions/{id}``."""
        return self._data("PATCH", f"/events/subscriptions/{_quote(id, safe='')}", {}, body=body, content_type=content_type, headers=headers)

    def change_version(
        self,
        id: str,
        version: int,
        body: ChangeVersionBody,
        *,
        content_type: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> FeedVersion:
        """Pin or unpin a version: ``PATCH /data_feeds/{id}/versions/{version}``."""
        return self._data("PATCH", f"/data_feeds/{_quote(id, safe='')}/versions/{_quote(str(version), safe='')}", {}, body=body, content_type=content_type, headers=headers)

    def change_workspace(
        self,
        id: str,
        body: ChangeWorkspaceBody,
        *,
        content_type: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Workspace:
        """Change a workspace: ``PATCH /workspaces/{id}``."""
        return self._data("PATCH", f"/workspaces/{_quote(id, safe='')}", {}, body=body, content_type=content_type, headers=headers)

    def compare_definitions(
        self,
        body: CompareDefinitionsBody,
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> list[CompareDefinitionsResponseItem]:
        """Compare secrets: ``POST /definitions/compare``."""
        return self._data("POST", "/definitions/compare", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def create_connection(
        self,
        body: NewConnection1 | NewConnection2 | NewConnection3 | NewConnection4,
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Connection:
        """Create a connection: ``POST /connections``."""
        return self._data("POST", "/connections", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def create_data_feed(
        self,
        body: Body | Mapping[str, Any],
        *,
        type: Literal['dataUpload', 'queryBuilder', 'rest'],
        name: str | None = None,
        source_of: str | None = None,
        preview: str | None = None,
        mode: Literal['replace', 'append', 'merge'] | None = None,
        key: str | None = None,
        format: Literal['csv', 'tsv', 'json', 'ndjson', 'xlsx', 'xlsm', 'xlsb', 'xls', 'ods', 'xml', 'parquet', 'arrow'] | None = None,
        path: str | None = None,
        types: Literal['auto', 'text'] | None = None,
        columns: str | None = None,
        explode: str | None = None,
        sheet: int | None = None,
        entry: str | None = None,
        rules: int | None = None,
        delimiter: str | None = None,
        quote: str | None = None,
        encoding: str | None = None,
        header: str | None = None,
        nulls: str | None = None,
        decimal: Literal['.', ','] | None = None,
        dates: Literal['dmy', 'mdy', 'ymd'] | None = None,
        timezone: str | None = None,
        footer: Literal['keep', 'drop'] | None = None,
        table: str | None = None,
        context: Literal['true', 'false'] | None = None,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> DataFeed:
        """Create a feed: ``POST /data_feeds``."""
        return self._data("POST", "/data_feeds", {"type": type, "name": name, "sourceOf": source_of, "preview": preview, "mode": mode, "key": key, "format": format, "path": path, "types": types, "columns": columns, "explode": explode, "sheet": sheet, "entry": entry, "rules": rules, "delimiter": delimiter, "quote": quote, "encoding": encoding, "header": header, "nulls": nulls, "decimal": decimal, "dates": dates, "timezone": timezone, "footer": footer, "table": table, "context": context}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def create_key(
        self,
        body: CreateKeyBody,
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> CreateKeyResponse:
        """Create an API key: ``POST /keys``."""
        return self._data("POST", "/keys", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def create_link(
        self,
        id: str,
        body: CreateLinkBody,
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> DataLink:
        """Create a link: ``POST /data_feeds/{id}/links``."""
        return self._data("POST", f"/data_feeds/{_quote(id, safe='')}/links", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def create_listener(
        self,
        body: CreateListenerBody,
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> CreateListenerResponse:
        """Create a listener: ``POST /events/listeners``."""
        return self._data("POST", "/events/listeners", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def create_portal_link(
        self,
        id: str,
        body: CreatePortalLinkBody,
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> PortalLink:
        """Create a portal link: ``POST /workspaces/{id}/portal_links``."""
        return self._data("POST", f"/workspaces/{_quote(id, safe='')}/portal_links", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def create_session(
        self,
        body: CreateSessionBody,
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Me:
        """Sign in: ``POST /sessions``."""
        return self._data("POST", "/sessions", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def create_sql_view(
        self,
        id: str,
        body: CreateSQLViewBody,
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> SQLView:
        """Create a SQL view: ``POST /connections/{id}/views``."""
        return self._data("POST", f"/connections/{_quote(id, safe='')}/views", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def create_subscription(
        self,
        body: CreateSubscriptionBody,
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> NewSubscription | list[NewSubscription] | CreateSubscriptionPartial:
        """Create a subscription: ``POST /events/subscriptions``."""
        return self._data("POST", "/events/subscriptions", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def create_workspace(
        self,
        body: CreateWorkspaceBody,
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Workspace:
        """Create a workspace: ``POST /workspaces``."""
        return self._data("POST", "/workspaces", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def creation_url(
        self,
        *,
        service_name: str,
        redirect_uri: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> CreationUrlResponse:
        """Create a link for connecting a service: ``GET /data_feeds/creation_url``."""
        return self._data("GET", "/data_feeds/creation_url", {"serviceName": service_name, "redirectUri": redirect_uri}, headers=headers)

    def definition_schema(
        self,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Get the JSON Schema of configuration files: ``GET /schemas/definition.json``."""
        return self._raw("GET", "/schemas/definition.json", {}, headers=headers)

    def delete_connection(
        self,
        id: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Delete a connection: ``DELETE /connections/{id}``."""
        self._none("DELETE", f"/connections/{_quote(id, safe='')}", {}, headers=headers)

    def delete_data_feed(
        self,
        id: str,
        *,
        force: bool | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Delete a feed: ``DELETE /data_feeds/{id}``."""
        self._none("DELETE", f"/data_feeds/{_quote(id, safe='')}", {"force": force}, headers=headers)

    def delete_link(
        self,
        id: str,
        lnk: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Revoke a link: ``DELETE /data_feeds/{id}/links/{lnk}``."""
        self._none("DELETE", f"/data_feeds/{_quote(id, safe='')}/links/{_quote(lnk, safe='')}", {}, headers=headers)

    def delete_listener(
        self,
        id: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Delete a listener: ``DELETE /events/listeners/{id}``."""
        self._none("DELETE", f"/events/listeners/{_quote(id, safe='')}", {}, headers=headers)

    def delete_portal_link(
        self,
        id: str,
        ptl: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Delete a portal link: ``DELETE /workspaces/{id}/portal_links/{ptl}``."""
        self._none("DELETE", f"/workspaces/{_quote(id, safe='')}/portal_links/{_quote(ptl, safe='')}", {}, headers=headers)

    def delete_sql_view(
        self,
        id: str,
        name: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Delete a SQL view: ``DELETE /connections/{id}/views/{name}``."""
        self._none("DELETE", f"/connections/{_quote(id, safe='')}/views/{_quote(name, safe='')}", {}, headers=headers)

    def delete_subscription(
        self,
        id: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Delete a subscription: ``DELETE /events/subscriptions/{id}``."""
        self._none("DELETE", f"/events/subscriptions/{_quote(id, safe='')}", {}, headers=headers)

    def delete_workspace(
        self,
        id: str,
        *,
        confirm: str,
        headers: Mapping[str, str] | None = None,
    ) -> Workspace:
        """Delete a workspace: ``DELETE /workspaces/{id}``."""
        return self._data("DELETE", f"/workspaces/{_quote(id, safe='')}", {"confirm": confirm}, headers=headers)

    def docs(
        self,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Get the API reference as a page: ``GET /docs``."""
        return self._raw("GET", "/docs", {}, headers=headers)

    def end_apply(
        self,
        *,
        holder: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """End an apply: ``DELETE /definitions/apply``."""
        self._none("DELETE", "/definitions/apply", {"holder": holder}, headers=headers)

    def end_session(
        self,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Sign out: ``DELETE /sessions/current``."""
        self._none("DELETE", "/sessions/current", {}, headers=headers)

    def get_connection(
        self,
        id: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Connection:
        """Get a connection: ``GET /connections/{id}``."""
        return self._data("GET", f"/connections/{_quote(id, safe='')}", {}, headers=headers)

    def get_data_feed(
        self,
        id: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> DataFeed:
        """Get a feed: ``GET /data_feeds/{id}``."""
        return self._data("GET", f"/data_feeds/{_quote(id, safe='')}", {}, headers=headers)

    def get_delivery(
        self,
        id: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> GetDeliveryResponse:
        """Get a delivery: ``GET /events/deliveries/{id}``."""
        return self._data("GET", f"/events/deliveries/{_quote(id, safe='')}", {}, headers=headers)

    def get_event(
        self,
        id: str,
        *,
        subscription_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> GetEventResponse:
        """Get an event: ``GET /events/{id}``."""
        return self._data("GET", f"/events/{_quote(id, safe='')}", {"subscriptionId": subscription_id}, headers=headers)

    def get_key(
        self,
        id: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Key:
        """Get an API key: ``GET /keys/{id}``."""
        return self._data("GET", f"/keys/{_quote(id, safe='')}", {}, headers=headers)

    def get_link(
        self,
        id: str,
        lnk: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> DataLink:
        """Get a link: ``GET /data_feeds/{id}/links/{lnk}``."""
        return self._data("GET", f"/data_feeds/{_quote(id, safe='')}/links/{_quote(lnk, safe='')}", {}, headers=headers)

    def get_listener(
        self,
        id: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Listener:
        """Get a listener: ``GET /events/listeners/{id}``."""
        return self._data("GET", f"/events/listeners/{_quote(id, safe='')}", {}, headers=headers)

    def get_portal_link(
        self,
        id: str,
        ptl: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> PortalLink:
        """Get a portal link: ``GET /workspaces/{id}/portal_links/{ptl}``."""
        return self._data("GET", f"/workspaces/{_quote(id, safe='')}/portal_links/{_quote(ptl, safe='')}", {}, headers=headers)

    def get_problem_type(
        self,
        slug: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> ProblemType:
        """Explain a problem type: ``GET /problems/{slug}``."""
        return self._data("GET", f"/problems/{_quote(slug, safe='')}", {}, headers=headers)

    def get_refresh(
        self,
        id: str,
        rid: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> WholeRefresh:
        """Get a refresh: ``GET /data_feeds/{id}/refreshes/{rid}``."""
        return self._data("GET", f"/data_feeds/{_quote(id, safe='')}/refreshes/{_quote(rid, safe='')}", {}, headers=headers)

    def get_replay(
        self,
        id: str,
        rid: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Replay:
        """Get a replay: ``GET /events/subscriptions/{id}/replays/{rid}``."""
        return self._data("GET", f"/events/subscriptions/{_quote(id, safe='')}/replays/{_quote(rid, safe='')}", {}, headers=headers)

    def get_sql_view(
        self,
        id: str,
        name: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> SQLView:
        """Get a SQL view: ``GET /connections/{id}/views/{name}``."""
        return self._data("GET", f"/connections/{_quote(id, safe='')}/views/{_quote(name, safe='')}", {}, headers=headers)

    def get_subscription(
        self,
        id: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> ReadSubscription:
        """Get a subscription: ``GET /events/subscriptions/{id}``."""
        return self._data("GET", f"/events/subscriptions/{_quote(id, safe='')}", {}, headers=headers)

    def get_subscription_stats(
        self,
        id: str,
        *,
        since: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> SubscriptionStats:
        """Get the delivery statistics of a subscription: ``GET /events/subscriptions/{id}/stats``."""
        return self._data("GET", f"/events/subscriptions/{_quote(id, safe='')}/stats", {"since": since}, headers=headers)

    def get_version(
        self,
        id: str,
        version: int,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> FeedVersion:
        """Get a version: ``GET /data_feeds/{id}/versions/{version}``."""
        return self._data("GET", f"/data_feeds/{_quote(id, safe='')}/versions/{_quote(str(version), safe='')}", {}, headers=headers)

    def get_workspace(
        self,
        id: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Workspace:
        """Get a workspace: ``GET /workspaces/{id}``."""
        return self._data("GET", f"/workspaces/{_quote(id, safe='')}", {}, headers=headers)

    def health(
        self,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Health:
        """Check that the server is alive: ``GET /healthz``."""
        return self._data("GET", "/healthz", {}, headers=headers)

    def list_audit(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        actor: str | None = None,
        action: str | None = None,
        resource: str | None = None,
        since: str | None = None,
        workspace_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[AuditEntry]:
        """List the audit log: ``GET /audit``."""
        return self._list("GET", "/audit", {"limit": limit, "cursor": cursor, "actor": actor, "action": action, "resource": resource, "since": since, "workspaceId": workspace_id}, headers=headers)

    def list_connections(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[Connection]:
        """List connections: ``GET /connections``."""
        return self._list("GET", "/connections", {"limit": limit, "cursor": cursor}, headers=headers)

    def list_data_feeds(
        self,
        *,
        state: str | None = None,
        q: str | None = None,
        sort: Literal['name', '-name', 'createdAt', '-createdAt', 'updatedAt', '-updatedAt', 'rowCount', '-rowCount', 'byteSize', '-byteSize'] | None = None,
        counts: Literal['state'] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[DataFeed]:
        """List feeds: ``GET /data_feeds``."""
        return self._list("GET", "/data_feeds", {"state": state, "q": q, "sort": sort, "counts": counts, "limit": limit, "cursor": cursor}, headers=headers)

    def list_definitions(
        self,
        *,
        kind: Literal['Connection', 'SQLView', 'Feed', 'Subscription'],
        limit: int | None = None,
        cursor: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[Definition]:
        """List definitions: ``GET /definitions``."""
        return self._list("GET", "/definitions", {"kind": kind, "limit": limit, "cursor": cursor}, headers=headers)

    def list_deliveries(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        state: str | None = None,
        type: str | None = None,
        since: str | None = None,
        until: str | None = None,
        counts: Literal['state'] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[Delivery]:
        """List the deliveries of a subscription: ``GET /events/subscriptions/{id}/deliveries``."""
        return self._list("GET", f"/events/subscriptions/{_quote(id, safe='')}/deliveries", {"limit": limit, "cursor": cursor, "state": state, "type": type, "since": since, "until": until, "counts": counts}, headers=headers)

    def list_event_types(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[ListEventTypesItem]:
        """List event types: ``GET /events/types``."""
        return self._list("GET", "/events/types", {"limit": limit, "cursor": cursor}, headers=headers)

    def list_events(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        type: str | None = None,
        resource_id: str | None = None,
        since: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[ListEventsItem]:
        """List events: ``GET /events``."""
        return self._list("GET", "/events", {"limit": limit, "cursor": cursor, "type": type, "resourceId": resource_id, "since": since}, headers=headers)

    def list_field_values(
        self,
        service_name: str,
        view_name: str,
        field: str,
        *,
        q: str | None = None,
        limit: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> list[Any]:
        """List the values of a field: ``GET /query_builder/services/{serviceName}/views/{viewName}/fields/{field}/values``."""
        return self._data("GET", f"/query_builder/services/{_quote(service_name, safe='')}/views/{_quote(view_name, safe='')}/fields/{_quote(field, safe='')}/values", {"q": q, "limit": limit}, headers=headers)

    def list_fields(
        self,
        service_name: str,
        view_name: str,
        *,
        refresh: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[ListFieldsItem]:
        """List the fields of a view: ``GET /query_builder/services/{serviceName}/views/{viewName}/fields``."""
        return self._list("GET", f"/query_builder/services/{_quote(service_name, safe='')}/views/{_quote(view_name, safe='')}/fields", {"refresh": refresh, "limit": limit, "cursor": cursor}, headers=headers)

    def list_keys(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        workspace_id: str | None = None,
        revoked: bool | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[Key]:
        """List API keys: ``GET /keys``."""
        return self._list("GET", "/keys", {"limit": limit, "cursor": cursor, "workspaceId": workspace_id, "revoked": revoked}, headers=headers)

    def list_links(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[DataLink]:
        """List the links of a feed: ``GET /data_feeds/{id}/links``."""
        return self._list("GET", f"/data_feeds/{_quote(id, safe='')}/links", {"limit": limit, "cursor": cursor}, headers=headers)

    def list_portal_links(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[PortalLink]:
        """List portal links: ``GET /workspaces/{id}/portal_links``."""
        return self._list("GET", f"/workspaces/{_quote(id, safe='')}/portal_links", {"limit": limit, "cursor": cursor}, headers=headers)

    def list_refreshes(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[Refresh]:
        """List refreshes: ``GET /data_feeds/{id}/refreshes``."""
        return self._list("GET", f"/data_feeds/{_quote(id, safe='')}/refreshes", {"limit": limit, "cursor": cursor}, headers=headers)

    def list_rejects(
        self,
        id: str,
        rid: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[Reject]:
        """List rejected rows: ``GET /data_feeds/{id}/refreshes/{rid}/rejects``."""
        return self._list("GET", f"/data_feeds/{_quote(id, safe='')}/refreshes/{_quote(rid, safe='')}/rejects", {"limit": limit, "cursor": cursor}, headers=headers)

    def list_services(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[ListServicesItem]:
        """List services: ``GET /query_builder/services``."""
        return self._list("GET", "/query_builder/services", {"limit": limit, "cursor": cursor}, headers=headers)

    def list_sql_views(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[SQLView]:
        """List the SQL views of a connection: ``GET /connections/{id}/views``."""
        return self._list("GET", f"/connections/{_quote(id, safe='')}/views", {"limit": limit, "cursor": cursor}, headers=headers)

    def list_subscriptions(
        self,
        *,
        counts: Literal['trouble'] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[ReadSubscription]:
        """List subscriptions: ``GET /events/subscriptions``."""
        return self._list("GET", "/events/subscriptions", {"counts": counts, "limit": limit, "cursor": cursor}, headers=headers)

    def list_undelivered(
        self,
        *,
        group_by: Literal['endpoint', 'error', 'endpoint,error'] | None = None,
        state: str | None = None,
        subscription_id: str | None = None,
        error: str | None = None,
        since: str | None = None,
        until: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[Delivery | UndeliveredGroup]:
        """List undelivered deliveries: ``GET /events/undelivered``."""
        return self._list("GET", "/events/undelivered", {"groupBy": group_by, "state": state, "subscriptionId": subscription_id, "error": error, "since": since, "until": until, "limit": limit, "cursor": cursor}, headers=headers)

    def list_versions(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[FeedVersion]:
        """List the versions of a feed: ``GET /data_feeds/{id}/versions``."""
        return self._list("GET", f"/data_feeds/{_quote(id, safe='')}/versions", {"limit": limit, "cursor": cursor}, headers=headers)

    def list_views(
        self,
        service_name: str,
        *,
        q: str | None = None,
        refresh: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[ListViewsItem]:
        """List the views of a service: ``GET /query_builder/services/{serviceName}/views``."""
        return self._list("GET", f"/query_builder/services/{_quote(service_name, safe='')}/views", {"q": q, "refresh": refresh, "limit": limit, "cursor": cursor}, headers=headers)

    def list_workspaces(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[Workspace]:
        """List workspaces: ``GET /workspaces``."""
        return self._list("GET", "/workspaces", {"limit": limit, "cursor": cursor}, headers=headers)

    def me(
        self,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Me:
        """Get the current user: ``GET /me``."""
        return self._data("GET", "/me", {}, headers=headers)

    def metrics(
        self,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Get metrics for Prometheus: ``GET /metrics``."""
        return self._raw("GET", "/metrics", {}, headers=headers)

    def move_session(
        self,
        body: MoveSessionBody,
        *,
        content_type: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Me:
        """Switch the workspace: ``PATCH /sessions/current``."""
        return self._data("PATCH", "/sessions/current", {}, body=body, content_type=content_type, headers=headers)

    def openapi(
        self,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Get the OpenAPI document: ``GET /openapi.json``."""
        return self._data("GET", "/openapi.json", {}, headers=headers)

    def operate(
        self,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Operate:
        """Get the state of the server: ``GET /operate``."""
        return self._data("GET", "/operate", {}, headers=headers)

    def pause_data_feed(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> DataFeed:
        """Pause a feed: ``POST /data_feeds/{id}/pause``."""
        return self._data("POST", f"/data_feeds/{_quote(id, safe='')}/pause", {}, idempotency_key=idempotency_key, headers=headers)

    def preview_data_feed(
        self,
        body: Body | Mapping[str, Any],
        *,
        type: Literal['dataUpload', 'queryBuilder', 'rest'],
        name: str | None = None,
        compare: str | None = None,
        preview: str | None = None,
        format: Literal['csv', 'tsv', 'json', 'ndjson', 'xlsx', 'xlsm', 'xlsb', 'xls', 'ods', 'xml', 'parquet', 'arrow'] | None = None,
        path: str | None = None,
        types: Literal['auto', 'text'] | None = None,
        columns: str | None = None,
        explode: str | None = None,
        sheet: int | None = None,
        entry: str | None = None,
        rules: int | None = None,
        delimiter: str | None = None,
        quote: str | None = None,
        encoding: str | None = None,
        header: str | None = None,
        nulls: str | None = None,
        decimal: Literal['.', ','] | None = None,
        dates: Literal['dmy', 'mdy', 'ymd'] | None = None,
        timezone: str | None = None,
        footer: Literal['keep', 'drop'] | None = None,
        table: str | None = None,
        context: Literal['true', 'false'] | None = None,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> PreviewDataFeedResponse:
        """Preview a feed: ``POST /data_feeds/preview``."""
        return self._data("POST", "/data_feeds/preview", {"type": type, "name": name, "compare": compare, "preview": preview, "format": format, "path": path, "types": types, "columns": columns, "explode": explode, "sheet": sheet, "entry": entry, "rules": rules, "delimiter": delimiter, "quote": quote, "encoding": encoding, "header": header, "nulls": nulls, "decimal": decimal, "dates": dates, "timezone": timezone, "footer": footer, "table": table, "context": context}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def preview_query(
        self,
        body: QueryFeed | str,
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> PreviewQueryResponse:
        """Preview a query: ``POST /query_builder/preview``."""
        return self._data("POST", "/query_builder/preview", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def preview_subscription(
        self,
        body: PreviewSubscriptionBody,
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> PreviewSubscriptionResponse:
        """Preview a subscription: ``POST /events/subscriptions/preview``."""
        return self._data("POST", "/events/subscriptions/preview", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def publish_events(
        self,
        body: CloudEvent | list[CloudEvent] | NewEvent | list[NewEvent],
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> PublishEventsResponse:
        """Publish events: ``POST /events``."""
        return self._data("POST", "/events", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def query_data_feed(
        self,
        id: str,
        body: RowQuery,
        *,
        cursor: str | None = None,
        version: int | None = None,
        format: Literal['json', 'ndjson', 'csv', 'xlsx', 'parquet', 'arrow'] | None = None,
        csv: Literal['exact', 'excel'] | None = None,
        numbers: Literal['text'] | None = None,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Query rows: ``POST /data_feeds/{id}/query``."""
        return self._raw("POST", f"/data_feeds/{_quote(id, safe='')}/query", {"cursor": cursor, "version": version, "format": format, "csv": csv, "numbers": numbers}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def read_changes(
        self,
        id: str,
        *,
        from_: int,
        to: int | None = None,
        fields: str | None = None,
        filter: Sequence[str] | None = None,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        count: bool | None = None,
        format: Literal['json', 'ndjson', 'csv', 'xlsx', 'parquet', 'arrow'] | None = None,
        csv: Literal['exact', 'excel'] | None = None,
        numbers: Literal['text'] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Compare two versions: ``GET /data_feeds/{id}/changes``."""
        return self._raw("GET", f"/data_feeds/{_quote(id, safe='')}/changes", {"from": from_, "to": to, "fields": fields, "filter": filter, "sort": sort, "limit": limit, "cursor": cursor, "offset": offset, "count": count, "format": format, "csv": csv, "numbers": numbers}, headers=headers)

    def read_chart(
        self,
        id: str,
        *,
        group: str,
        measure: str | None = None,
        aggregate: Literal['sum', 'avg', 'min', 'max', 'count', 'countDistinct'] | None = None,
        split: str | None = None,
        filter: Sequence[str] | None = None,
        timezone: str | None = None,
        kind: Literal['bar', 'line', 'area'] | None = None,
        version: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Chart:
        """Get a chart of a feed: ``GET /data_feeds/{id}/chart``."""
        return self._data("GET", f"/data_feeds/{_quote(id, safe='')}/chart", {"group": group, "measure": measure, "aggregate": aggregate, "split": split, "filter": filter, "timezone": timezone, "kind": kind, "version": version}, headers=headers)

    def read_checks(
        self,
        id: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Checks:
        """Get the checks of a feed: ``GET /data_feeds/{id}/checks``."""
        return self._data("GET", f"/data_feeds/{_quote(id, safe='')}/checks", {}, headers=headers)

    def read_data_feed(
        self,
        id: str,
        *,
        fields: str | None = None,
        filter: Sequence[str] | None = None,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        count: bool | None = None,
        version: int | None = None,
        format: Literal['json', 'ndjson', 'csv', 'xlsx', 'parquet', 'arrow'] | None = None,
        csv: Literal['exact', 'excel'] | None = None,
        numbers: Literal['text'] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Read rows: ``GET /data_feeds/{id}/data``."""
        return self._raw("GET", f"/data_feeds/{_quote(id, safe='')}/data", {"fields": fields, "filter": filter, "sort": sort, "limit": limit, "cursor": cursor, "offset": offset, "count": count, "version": version, "format": format, "csv": csv, "numbers": numbers}, headers=headers)

    def read_lineage(
        self,
        id: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Lineage:
        """Get the lineage of a feed: ``GET /data_feeds/{id}/lineage``."""
        return self._data("GET", f"/data_feeds/{_quote(id, safe='')}/lineage", {}, headers=headers)

    def read_link(
        self,
        token: str,
        *,
        format: Literal['json', 'ndjson', 'csv', 'xlsx', 'parquet', 'arrow'] | None = None,
        csv: Literal['exact', 'excel'] | None = None,
        numbers: Literal['text'] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        version: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Read a feed by a link: ``GET /links/{token}``."""
        return self._raw("GET", f"/links/{_quote(token, safe='')}", {"format": format, "csv": csv, "numbers": numbers, "limit": limit, "cursor": cursor, "version": version}, headers=headers)

    def read_profile(
        self,
        id: str,
        *,
        filter: Sequence[str] | None = None,
        version: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> FeedProfile:
        """Get the profile of a feed: ``GET /data_feeds/{id}/profile``."""
        return self._data("GET", f"/data_feeds/{_quote(id, safe='')}/profile", {"filter": filter, "version": version}, headers=headers)

    def ready(
        self,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Health:
        """Check that the server is ready: ``GET /readyz``."""
        return self._data("GET", "/readyz", {}, headers=headers)

    def refresh_data_feed(
        self,
        id: str,
        *,
        accept: bool | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Refresh:
        """Refresh a feed: ``POST /data_feeds/{id}/refresh``."""
        return self._data("POST", f"/data_feeds/{_quote(id, safe='')}/refresh", {"accept": accept}, idempotency_key=idempotency_key, headers=headers)

    def replace_data_feed(
        self,
        id: str,
        body: Body | Mapping[str, Any],
        *,
        mode: Literal['replace', 'append', 'merge'] | None = None,
        accept: bool | None = None,
        preview: str | None = None,
        key: str | None = None,
        format: Literal['csv', 'tsv', 'json', 'ndjson', 'xlsx', 'xlsm', 'xlsb', 'xls', 'ods', 'xml', 'parquet', 'arrow'] | None = None,
        path: str | None = None,
        types: Literal['auto', 'text'] | None = None,
        columns: str | None = None,
        explode: str | None = None,
        sheet: int | None = None,
        entry: str | None = None,
        rules: int | None = None,
        delimiter: str | None = None,
        quote: str | None = None,
        encoding: str | None = None,
        header: str | None = None,
        nulls: str | None = None,
        decimal: Literal['.', ','] | None = None,
        dates: Literal['dmy', 'mdy', 'ymd'] | None = None,
        timezone: str | None = None,
        footer: Literal['keep', 'drop'] | None = None,
        table: str | None = None,
        context: Literal['true', 'false'] | None = None,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> DataFeed:
        """Upload new data: ``PUT /data_feeds/{id}/data``."""
        return self._data("PUT", f"/data_feeds/{_quote(id, safe='')}/data", {"mode": mode, "accept": accept, "preview": preview, "key": key, "format": format, "path": path, "types": types, "columns": columns, "explode": explode, "sheet": sheet, "entry": entry, "rules": rules, "delimiter": delimiter, "quote": quote, "encoding": encoding, "header": header, "nulls": nulls, "decimal": decimal, "dates": dates, "timezone": timezone, "footer": footer, "table": table, "context": context}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def replay_subscription(
        self,
        id: str,
        body: ReplaySubscriptionBody,
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Replay:
        """Replay events: ``POST /events/subscriptions/{id}/replay``."""
        return self._data("POST", f"/events/subscriptions/{_quote(id, safe='')}/replay", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def rest_feed_schema(
        self,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Get the JSON Schema of REST feeds: ``GET /schemas/rest-feed.json``."""
        return self._raw("GET", "/schemas/rest-feed.json", {}, headers=headers)

    def restore_version(
        self,
        id: str,
        version: int,
        *,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> DataFeed:
        """Restore a version: ``POST /data_feeds/{id}/versions/{version}/restore``."""
        return self._data("POST", f"/data_feeds/{_quote(id, safe='')}/versions/{_quote(str(version), safe='')}/restore", {}, idempotency_key=idempotency_key, headers=headers)

    def resume_data_feed(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> DataFeed:
        """Resume a feed: ``POST /data_feeds/{id}/resume``."""
        return self._data("POST", f"/data_feeds/{_quote(id, safe='')}/resume", {}, idempotency_key=idempotency_key, headers=headers)

    def retry_delivery(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Delivery:
        """Retry a delivery: ``POST /events/deliveries/{id}/retry``."""
        return self._data("POST", f"/events/deliveries/{_quote(id, safe='')}/retry", {}, idempotency_key=idempotency_key, headers=headers)

    def retry_subscription(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> RetrySubscriptionResponse:
        """Retry all waiting deliveries: ``POST /events/subscriptions/{id}/retry``."""
        return self._data("POST", f"/events/subscriptions/{_quote(id, safe='')}/retry", {}, idempotency_key=idempotency_key, headers=headers)

    def retry_undelivered(
        self,
        body: RetryUndeliveredBody1 | RetryUndeliveredBody2,
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> RetriedDeliveries:
        """Retry undelivered deliveries: ``POST /events/undelivered/retry``."""
        return self._data("POST", "/events/undelivered/retry", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def revoke_key(
        self,
        id: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Revoke an API key: ``DELETE /keys/{id}``."""
        self._none("DELETE", f"/keys/{_quote(id, safe='')}", {}, headers=headers)

    def rotate_secret(
        self,
        id: str,
        body: RotateSecretBody | None = None,
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> RotateSecretResponse:
        """Rotate the signing secret: ``POST /events/subscriptions/{id}/rotate_secret``."""
        return self._data("POST", f"/events/subscriptions/{_quote(id, safe='')}/rotate_secret", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def service_schema(
        self,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Get the JSON Schema of service manifests: ``GET /schemas/service.json``."""
        return self._raw("GET", "/schemas/service.json", {}, headers=headers)

    def set_definition(
        self,
        id: str,
        body: SetDefinitionBody,
        *,
        content_type: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Set the handle of an object: ``PATCH /definitions/{id}``."""
        self._none("PATCH", f"/definitions/{_quote(id, safe='')}", {}, body=body, content_type=content_type, headers=headers)

    def stream_events(
        self,
        *,
        type: str | None = None,
        resource_id: str | None = None,
        since: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Stream events: ``GET /events/stream``."""
        return self._raw("GET", "/events/stream", {"type": type, "resourceId": resource_id, "since": since}, headers=headers)

    def stream_listener(
        self,
        id: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Receive deliveries: ``GET /events/listeners/{id}/stream``."""
        return self._raw("GET", f"/events/listeners/{_quote(id, safe='')}/stream", {}, headers=headers)

    def test_connection(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> TestConnectionResponse:
        """Test a connection: ``POST /connections/{id}/test``."""
        return self._data("POST", f"/connections/{_quote(id, safe='')}/test", {}, idempotency_key=idempotency_key, headers=headers)

    def test_listener(
        self,
        id: str,
        body: TestListenerBody | None = None,
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Send a test event to a listener: ``POST /events/listeners/{id}/test``."""
        self._none("POST", f"/events/listeners/{_quote(id, safe='')}/test", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)

    def test_subscription(
        self,
        id: str,
        body: TestSubscriptionBody | None = None,
        *,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> TestSubscriptionResponse:
        """Send a test event: ``POST /events/subscriptions/{id}/test``."""
        return self._data("POST", f"/events/subscriptions/{_quote(id, safe='')}/test", {}, body=body, content_type=content_type, idempotency_key=idempotency_key, headers=headers)
